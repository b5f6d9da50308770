"""What several verifiers count with; none of it is shared with a method."""
