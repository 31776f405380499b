"""What the project's own checks need; not part of what is installed."""
