"""The processes of an agent: one's life, and which one serves the next session."""
