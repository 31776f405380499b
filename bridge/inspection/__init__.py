"""The decisions about chats, for a person: their reasons, and the agents' sessions."""
