"""The types of the Agent Client Protocol."""
