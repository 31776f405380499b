"""Tests of `bridge.inspection`."""
