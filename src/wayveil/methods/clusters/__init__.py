"""What nwa and w4m share: clusters, and where members are placed."""
