"""The editor's side: wire model, JSON-RPC, history, routing, tokens, errors."""
