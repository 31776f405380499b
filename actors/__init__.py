"""The actors: they own tasks, channels and lifetimes."""
