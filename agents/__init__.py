"""The agents' side: the client for each kind of agent."""
