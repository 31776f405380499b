"""The memory that outlives the process, in a file that all processes of a user share.

It never stops a turn: if it is locked, full, broken or slow, it finds nothing.
"""
