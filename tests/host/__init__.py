"""A model of the host, checked against recordings, and the router under it.

`model` is VS Code's chat with its built-in agent, as a client of ours; it holds the truth: what the
user sees as accepted. `switchboard` is `bridge.chats`, with a ledger for each agent. `ledger` is
what an agent was given. `world` plays one against the others and checks, after every request, that
the agent knows what the user sees.
"""
