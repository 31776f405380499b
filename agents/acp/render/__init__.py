"""Show an agent's updates as Markdown."""
