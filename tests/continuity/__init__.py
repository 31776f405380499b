"""The model of the host against the whole system, with agents that remember every word."""
