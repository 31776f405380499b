"""Questions of agents that the user answers by a form."""
