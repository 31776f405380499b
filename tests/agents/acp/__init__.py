"""ACP agents."""
