"""How agents speak with models: each dialect reads a request, and writes a reply as a stream."""
