"""The pages, and what generates parts of them."""
