"""Any table people have, in its own dialect, turned into one plain table that everything else reads."""
