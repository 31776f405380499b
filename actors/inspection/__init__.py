"""Tells a person what the chats of a running server are, in rows and on a page."""
