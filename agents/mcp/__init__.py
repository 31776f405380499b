"""The editor's tools in an ACP agent's hands: an MCP server for each session.

`call_broker` pairs calls with results, and is the heart of it. `names`, `tools` and `results` say
things in MCP's words. `server` runs the SDK's server. Agents reach it through `listener` and
`stdio_proxy`, or through `http`.
"""
