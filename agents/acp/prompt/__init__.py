"""Write the prompt for an agent, from the editor's request."""
