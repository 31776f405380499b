"""Start an agent: its packages are downloaded before its program runs."""
