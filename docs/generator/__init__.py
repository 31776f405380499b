"""The pieces that docs/generate.py fills in: each a function that returns Markdown."""
