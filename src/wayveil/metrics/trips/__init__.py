"""How long trips are: in metres, seconds and visits."""
