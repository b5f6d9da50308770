"""Several publications side by side: what each one risks and what it loses."""
