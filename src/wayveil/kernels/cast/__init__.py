"""Groups of stops that are near to each other in a taxonomy, and generalization of sensitive stops."""
