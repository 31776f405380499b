"""`vscodelm doctor`: start an agent, and report its abilities and its problems."""
