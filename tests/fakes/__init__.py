"""Fakes: objects with behaviour that the contract tests hold to the real things."""
