"""The in-process agent: Weizenbaum's ELIZA."""
