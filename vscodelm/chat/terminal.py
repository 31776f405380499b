"""`vscodelm chat`: the chat in this terminal, with a server of its own."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence

import trio

from bridge.errors import RpcError, first_error

from .child import open_client, server_argv
from .client import ServerGone
from .keyboard import open_lines
from .loop import COMMANDS, Chat, ChatError
from .screen import Screen

INTERRUPTED = 130  # 128 + SIGINT, as shells count


def chat_here(options: Sequence[str], model: str) -> int:
    """Chat on this terminal with a server that is given `options`; return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # an answer may have characters that a terminal can't show
    status = 0
    try:
        status = trio.run(_run, server_argv(options), model)
    except* BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes into it at its end
    except* KeyboardInterrupt:
        status = INTERRUPTED
    return status


async def _run(argv: Sequence[str], model: str) -> int:
    failure = ""
    done = False
    async with trio.open_nursery() as nursery:
        screen = Screen.of_process()
        lines = open_lines(list(COMMANDS), screen.text)
        chat = Chat(lines, screen, model, leave=nursery.cancel_scope.cancel)
        await nursery.start(_watch_interrupts, chat)
        if lines.is_interactive:
            screen.note(f"{model} answers. /help lists the commands, Ctrl-D leaves.")
        try:
            while not done:
                async with open_client(argv, screen.note, tell=screen.progress) as client:
                    done = await chat.talk(client)
        except* (ServerGone, RpcError, ChatError) as group:
            failure = str(first_error(group))
        nursery.cancel_scope.cancel()
    if failure:
        raise ChatError(failure)
    return 0 if done else INTERRUPTED


async def _watch_interrupts(chat: Chat, task_status: trio.TaskStatus[None]) -> None:
    with trio.open_signal_receiver(signal.SIGINT) as interrupts:
        task_status.started()
        async for _ in interrupts:
            chat.interrupt()
