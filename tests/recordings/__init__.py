"""Recorded traffic, and recordings of our own, replayed."""
