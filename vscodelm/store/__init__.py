"""The memory that outlives the process, in a file that all processes of a user share.

Nothing that it can't do stops a turn: where it is locked, full, broken or slow, nothing is found.
"""
