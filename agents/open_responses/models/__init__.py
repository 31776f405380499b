"""List the models of a server."""
