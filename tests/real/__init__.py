"""Real ACP agents against a model server of our own: `make test-agents`."""
