"""What a person is told of the chats: the decisions, their reasons and the agents' sessions."""
