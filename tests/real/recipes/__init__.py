"""One module for each real agent: how it is started, and what it can't do."""
