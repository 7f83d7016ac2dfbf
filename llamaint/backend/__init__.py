"""The seam to the engine: protocols, their native implementation, and the table of error codes."""
