"""An agent's writes, carried out by the editor's own edit tools."""
