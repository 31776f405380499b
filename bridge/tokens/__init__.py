"""Estimate how many tokens a model would count."""
