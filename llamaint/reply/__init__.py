"""From engine chunks to events, and from events to results."""
