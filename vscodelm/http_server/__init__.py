"""`vscodelm serve-http`: every agent as an Open Responses server."""
