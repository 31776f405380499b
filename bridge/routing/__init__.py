"""Find the conversation that a request belongs to."""
