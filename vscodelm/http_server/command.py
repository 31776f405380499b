"""Run the server: the core of every chat, with HTTP before it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import attrs
import trio

from actors.trace import Trace
from agents.acp.transport.running import kill_all
from agents.boundary import contained
from bridge.known_secrets import KnownSecrets
from bridge.models import Catalogue
from bridge.wire import Permissions
from vscodelm.config_file import load_catalogue
from vscodelm.places import state_folder
from vscodelm.serve import (
    ServedAgents,
    ServeOptions,
    begin_secrets,
    begin_trace,
    learn_of_listings,
    list_models,
    open_agents,
)
from vscodelm.signals import Signals

from .answering import Answering
from .app import Guarded, make_app
from .core import open_answering
from .gate import gate_of, is_loopback
from .records import ResponseRecords, open_records
from .serving import CannotListen, ServedAddress, bound, serving
from .token import ServerToken, TokenError, find_token, make_key

if TYPE_CHECKING:
    from socket import socket

TOKEN_FILE = "http-token"
"""The token's file in the state folder."""
_KEY_FILE = "http-key"
_RESPONSES = "responses"
log = logging.getLogger("vscodelm.http")


@attrs.frozen(eq=False, repr=False)
class HttpOptions:
    """The options of the command line."""

    shared: ServeOptions
    port: int = 0
    listen: str = "127.0.0.1"
    token_file: Path | None = None
    permissions: Permissions = "read_only"
    origins: tuple[str, ...] = ()
    folder: Path | None = None


def serve_http(options: HttpOptions) -> int:
    """Serve until a signal comes; return the exit status."""
    shared = options.shared
    secrets = begin_secrets(shared)
    state = state_folder(shared.state_dir)
    token = find_token(options.token_file, state / TOKEN_FILE)
    secrets.learn({"mcp_server": {"env": [{"name": "TOKEN", "value": token.text}]}}, {})
    catalogue = load_catalogue(shared.config)
    learn_of_listings(catalogue, secrets)
    trace = begin_trace(shared, "vscodelm-http", secrets)
    _check_place(options.listen, token)
    try:
        return trio.run(_Server(options, state, catalogue, trace, secrets, token).run)
    finally:
        trace.close()


def _check_place(listen: str, token: ServerToken) -> None:
    """Warn of an address that others can reach; raises `TokenError` if the token isn't chosen."""
    if listen.startswith("unix:") or is_loopback(listen):
        return
    if not token.is_chosen:
        raise TokenError(
            f"to listen on {listen}, give a token of your own: in VSCODELM_TOKEN, or in a file "
            "that --token-file names"
        )
    log.warning(
        "others can reach this server on %s: whoever has the token can use its agents, and "
        "without TLS the network can read the token",
        listen,
    )


def end_at_once(sockets: Iterable[str], status: int) -> NoReturn:
    """End this process, whatever it waits for, with its agents and its Unix sockets."""
    log.warning("a second signal: the agents are killed")
    kill_all()
    for socket in sockets:
        Path(socket).unlink(missing_ok=True)
    logging.shutdown()
    os._exit(status)


@attrs.frozen(eq=False, repr=False)
class _Server:
    options: HttpOptions
    state: Path
    catalogue: Catalogue
    trace: Trace
    secrets: KnownSecrets
    token: ServerToken

    async def run(self) -> int:
        """Serve until a signal; every answer that is open is cancelled then.

        Raises `CannotListen`.
        """
        until = trio.CancelScope()
        options, refusal = self.options, None
        paths: list[str] = []
        async with trio.open_nursery() as nursery:
            # Before there is a Unix socket: a signal must not leave it behind.
            await nursery.start(Signals(until, partial(end_at_once, paths)).watch)
            try:
                with bound(options.listen, options.port) as (listening, address):
                    paths += [address.path] if address.path is not None else []
                    await self._serve_until(listening, address, until)
            except CannotListen as error:
                refusal = error  # raised outside, where no nursery wraps it in a group
            nursery.cancel_scope.cancel()
        if refusal is not None:
            raise refusal
        return 0

    async def _serve_until(
        self, listening: socket, address: ServedAddress, until: trio.CancelScope
    ) -> None:
        records = open_records(self.state / _RESPONSES)
        try:
            state_dir = self.options.shared.state_dir
            async with open_agents(self.trace, state_dir, self.secrets) as agents:
                await self._serve(listening, address, agents, records, until)
        finally:
            records.close()

    async def _serve(
        self,
        listening: socket,
        address: ServedAddress,
        agents: ServedAgents,
        records: ResponseRecords,
        until: trio.CancelScope,
    ) -> None:
        folder = (self.options.folder or Path.cwd()).absolute()
        agents.directory.workspace.open_folders([str(folder)])
        async with (
            open_answering(
                agents.agent_for,
                records,
                self.catalogue,
                key=make_key(self.state / _KEY_FILE),
                permissions=self.options.permissions,
                memory=agents.memory,
                counts=agents.counts,
                trace=self.trace,
                hide=self.secrets.hide_all,
            ) as answering,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(self._find_models, answering)
            await self._listen(listening, address, answering, until)
            nursery.cancel_scope.cancel()

    async def _find_models(self, answering: Answering) -> None:
        """Keep the catalogue up to date."""
        with contained("models=listing"):
            if self.catalogue.listings:
                await list_models(self.trace, self.catalogue, answering.change_catalogue)

    async def _listen(
        self,
        listening: socket,
        address: ServedAddress,
        answering: Answering,
        until: trio.CancelScope,
    ) -> None:
        host = None if address.path is not None else address.host
        gate = gate_of(self.token.text, host, address.port, self.options.origins)
        app = Guarded(make_app(answering), gate)
        async with serving(app, listening):
            if self.token.file is not None:
                sys.stderr.write(f"The token is in {self.token.file}\n")
                sys.stderr.flush()
            sys.stdout.write(f"{address.url}\n")
            sys.stdout.flush()
            with until:
                await trio.sleep_forever()
            await answering.leave()
