"""Carry lines to an agent and back."""
