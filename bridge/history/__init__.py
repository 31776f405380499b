"""Keep the messages of a conversation, in a state machine."""
