"""How far points moved, and what questions about them are still answered."""
