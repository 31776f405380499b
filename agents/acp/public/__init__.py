"""The public face of the ACP client, for programs that look into an agent beside `AcpAgent`.

`running` starts an agent and opens a session. `described` has the pure part: an agent's own words,
and the known facts about it. All other modules of `agents.acp` are internal.
"""
