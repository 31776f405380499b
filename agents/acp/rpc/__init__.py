"""Send and receive JSON-RPC messages of ACP."""
