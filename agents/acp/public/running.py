"""A running agent, from its command to a session, one step at a time."""

from __future__ import annotations

from agents.acp.connected_agent import ConnectedAgent
from agents.acp.learned import Learned
from agents.acp.processes.process import AcpProcess
from agents.acp.session import AcpSession
from agents.acp.session_channel import SessionChannel
from agents.acp.session_params import SessionParams
from agents.acp.transport.base import Link
from agents.acp.transport.downloads import Downloads
from agents.acp.transport.environment import environment_of
from agents.acp.transport.subprocess import ChildProcess, open_process, working_directory
from agents.acp.transport.trace import TappedLink

__all__ = [
    "AcpProcess",
    "AcpSession",
    "ChildProcess",
    "ConnectedAgent",
    "Downloads",
    "Learned",
    "Link",
    "SessionChannel",
    "SessionParams",
    "TappedLink",
    "environment_of",
    "open_process",
    "working_directory",
]
