"""The client's side of the Agent Client Protocol, version 1.

`agent` has the definition with its processes, `session` and `turn` the conversation. `schema` has
the shapes of the wire under the protocol's own names, and `rpc` reads and writes them. Programs
that look into an agent use `public`.
"""
