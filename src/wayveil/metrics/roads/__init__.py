"""How many people take each road."""
