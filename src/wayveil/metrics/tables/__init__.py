"""What tables of counts lost."""
