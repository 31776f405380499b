"""`vscodelm serve-http` on the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from vscodelm.options import chat_options, nearest

if TYPE_CHECKING:
    from bridge.wire import Permissions


@click.command("serve-http")
@chat_options
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="The port; 0 takes a free one.",
)
@click.option(
    "--listen",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="An address of this machine, or unix:PATH for a Unix socket.",
)
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file with the token, made if it is missing; the default is in the state folder. "
    "VSCODELM_TOKEN comes first.",
)
@click.option(
    "--permissions",
    type=click.Choice(["read_only", "deny", "ask", "allow"]),
    default="read_only",
    show_default=True,
    help="The actions that agents may do by themselves.",
)
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="URL",
    help="An Origin that programs may send. A page in a browser still can't read the answers.",
)
@click.option(
    "--cwd",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that agents work in; the default is the current one.",
)
@click.pass_context
def serve_http(
    context: click.Context,
    port: int,
    listen: str,
    token_file: Path | None,
    permissions: str,
    allow_origin: tuple[str, ...],
    cwd: Path | None,
    **shared: Any,
) -> None:
    """Serve every model over HTTP, as an Open Responses server.

    The first line of standard output is the base URL. Requests need the token.
    """
    from bridge.models import ConfigError  # here, so that --help doesn't load the server
    from vscodelm.serve import ServeOptions

    from .command import HttpOptions
    from .command import serve_http as run
    from .serving import CannotListen
    from .token import TokenError

    chosen = {name: nearest(context, name) for name in shared}
    options = HttpOptions(
        ServeOptions(**chosen),
        port,
        listen,
        token_file,
        cast("Permissions", permissions),
        allow_origin,
        cwd,
    )
    try:
        sys.exit(run(options))
    except (ConfigError, CannotListen, TokenError, OSError) as error:
        raise click.ClickException(str(error)) from None
