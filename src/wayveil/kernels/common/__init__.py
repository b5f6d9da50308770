"""What kernels of several families share: compiling, a heap, tables of sequences, the Hilbert curve."""
