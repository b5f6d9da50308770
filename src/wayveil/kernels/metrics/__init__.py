"""What published data lose, for the metrics of utility."""
