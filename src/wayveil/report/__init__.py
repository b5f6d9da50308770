"""What came of it, for people: the report and the pages beside it."""
