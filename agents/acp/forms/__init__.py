"""The input that an agent asks the user for, in a turn."""
