"""Read the events of a response."""

from .call_ids import CallIds
from .machine import StreamMachine
from .sse import SseSplitter

__all__ = ["CallIds", "SseSplitter", "StreamMachine"]
