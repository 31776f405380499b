"""The editor's tools in an ACP agent's hands: an MCP server for each session.

`desk` pairs calls with results and is the heart of it; `names`, `catalogue` and `content` say
things in MCP's words; `server` is the SDK's; agents reach it through `door` and `relay`, or `web`.
"""
