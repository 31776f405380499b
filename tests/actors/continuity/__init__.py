"""Tests of `actors.continuity`."""
