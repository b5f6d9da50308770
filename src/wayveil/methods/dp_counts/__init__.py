"""Tables of counts with noise: differential privacy for each person."""
