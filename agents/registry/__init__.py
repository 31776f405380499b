"""The registry of ACP agents: its index, what starts an agent of it, and the ones installed here.

Nothing here is fetched unless somebody asked for it, and the index comes with no copy of ours.
"""
