"""The client's side of the Agent Client Protocol, version 1.

The shapes of the wire are in `content` (what is said, tool calls), `updates` (`session/update`),
`config` (options, modes, models), `setup` (who is who) and `methods` (each method's parameters and
result); `decode` reads lines into them. The names are the protocol's own.
"""
