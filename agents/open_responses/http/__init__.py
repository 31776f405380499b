"""Send requests to an Open Responses server over HTTP."""
