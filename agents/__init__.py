"""The agents' side: how each kind of agent is talked to."""
