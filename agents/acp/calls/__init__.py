"""Track an agent's tool calls: the state of each, its tool, and the chat that it belongs to."""
