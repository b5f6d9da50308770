"""How far stops went up the taxonomy."""
