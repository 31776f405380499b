"""Logins: what agents demand and offer, and how they are carried out or advised."""
