"""Tests of `agents.open_responses`."""
