"""Chats that go on with a session that the agent has from elsewhere: from its own terminal, say."""
