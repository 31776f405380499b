"""Show the chats of a running server, as rows and on a page."""
