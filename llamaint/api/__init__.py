"""The public objects."""
