"""Open Responses: a server that keeps the conversation, spoken to over HTTP and server-sent events.

What comes in: `sse` splits bytes into events, `stream` makes what an agent says of them, and its
`outcome` is what the next request needs to know.
"""
