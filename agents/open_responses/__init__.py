"""Open Responses: a server that keeps the conversation, spoken to over HTTP and server-sent events.

On the way in, `sse` splits bytes into events, and `stream` turns them into the agent's events. Its
`outcome` is the state that the next request needs.
"""
