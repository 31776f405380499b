"""The registry of ACP agents: its index, the launch of its agents, and the ones installed here.

The index is fetched only on request, and the package contains no copy of it.
"""
