"""The commands and their options, from click."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vscodelm.chat.loop import COMMANDS
from vscodelm.cli import main

from .markdown import block, sections, table


def chat_commands() -> str:
    """Return what can be typed in the chat."""
    return table(["command", ""], [[f"`{name}`", what] for name, what in COMMANDS.items()])


def commands() -> str:
    """Return a section for each command."""
    return sections(_sections("vscodelm", main, None))


def _sections(name: str, command: click.Command, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    words = [context.command_path, *("[OPTIONS]" if options else "",), *map(_argument, arguments)]
    yield f"## `{context.command_path}`"
    yield block("text", " ".join(word for word in words if word))
    yield "\n\n".join(" ".join(part.split()) for part in _paragraphs(command.help or ""))
    yield table(["option", "default", ""], [_option(option) for option in options])
    if isinstance(command, click.Group):
        for child in sorted(command.list_commands(context)):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from _sections(child, found, context)


def _paragraphs(text: str) -> list[str]:
    return [part for part in text.replace("\b", "").split("\n\n") if part.strip()]


def _argument(argument: click.Argument) -> str:
    name = argument.human_readable_name
    return name if argument.required else f"[{name}]"


def _option(option: click.Option) -> list[str]:
    names = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag or option.count else f" {_value(option)}"
    default = f"`{option.default}`" if option.show_default else ""
    return [f"`{names}{value}`", default, option.help or ""]


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "|".join(str(choice) for choice in option.type.choices)
    return option.metavar or option.type.name.upper()
