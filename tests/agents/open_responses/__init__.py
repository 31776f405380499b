"""Open Responses endpoints."""
