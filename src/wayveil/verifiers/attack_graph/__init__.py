"""k candidates for declared positions: the graph of who may be whom."""
