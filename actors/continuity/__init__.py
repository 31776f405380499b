"""The machine of a conversation's session: what the session knows, and what comes next. Pure."""
