"""What every agent must do, the fakes included."""
