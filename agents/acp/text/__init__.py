"""Text of agents, made fit to be shown: cleaned, escaped and bounded."""
