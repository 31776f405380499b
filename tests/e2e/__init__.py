"""Tests of the whole subprocess."""
