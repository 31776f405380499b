"""Tests of `actors.inspection`."""
