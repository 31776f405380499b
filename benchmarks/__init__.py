"""The numbers we hold, measured."""
