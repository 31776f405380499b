"""Chats that continue an existing session, for example one from the agent's own terminal."""
