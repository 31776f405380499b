"""`vscodelm chat`: talk to an agent in the terminal."""
