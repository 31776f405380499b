"""`vscodelm doctor`: starts an agent and tells what it can do, and what is wrong with it."""
