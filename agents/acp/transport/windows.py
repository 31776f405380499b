"""Decide how a program is found, started and ended on Windows; testable on any system.

Windows starts a batch file (`npx.cmd`) by passing its command line to cmd.exe. The quoting rules of
cmd.exe differ from those of other programs. So a batch file gets its own command line, and an
argument that cmd.exe would interpret is refused. Unlike Windows, we don't search the current folder
for a program: it is the user's workspace, and its files can't be trusted. Pure.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Callable, Mapping, Sequence

ENDINGS = ".COM;.EXE;.BAT;.CMD"
"""Endings of programs if the environment has none."""
_BATCH = frozenset({".bat", ".cmd"})
_INTERPRETED = re.compile(r'["%!^&|<>\x00-\x1f]')
_BEFORE_QUOTE = re.compile(r'(?<!\\)(\\*)"')
_PLAIN = re.compile(r"[\w./:@+\\-]+")


class ArgumentRefused(ValueError):
    """An argument would be changed on its way; the message says which. It may be a secret."""


def folded(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which each name is there once: Windows ignores their case.

    The last of several counts: it comes from the definition.
    """
    return {name.upper(): value for name, value in environment.items()}


def find_program(
    command: str, environment: Mapping[str, str], is_file: Callable[[str], bool]
) -> str | None:
    """Return the file that a command names: `npx` is `npx.cmd`. None where there isn't one.

    `environment` is folded. A command without a folder is looked for in the absolute folders of
    PATH, with each of the endings of PATHEXT.
    """
    endings = [one for one in environment.get("PATHEXT", ENDINGS).split(";") if one]
    has_ending = command.lower().endswith(tuple(one.lower() for one in endings))
    names = [command] if has_ending else [command + ending.lower() for ending in endings]
    if ntpath.dirname(command) or ntpath.splitdrive(command)[0]:
        places = names
    else:
        folders = [one.strip().strip('"') for one in environment.get("PATH", "").split(";")]
        places = [
            ntpath.join(folder, name) for folder in folders if _is_whole(folder) for name in names
        ]
    return next((place for place in places if is_file(place)), None)


def command_line(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the line that starts a program with exactly these arguments.

    Raises `ArgumentRefused` where a batch file can't be given one of them as it is.
    """
    if ntpath.splitext(program)[1].lower() not in _BATCH:
        return " ".join(map(_word, (program, *arguments)))
    if _INTERPRETED.search(program):
        raise ArgumentRefused("the path of the program has a character that cmd.exe interprets")
    for number, argument in enumerate(arguments, 1):
        if _INTERPRETED.search(argument):
            raise ArgumentRefused(
                f"argument {number} has a character that cmd.exe interprets, one of "
                '" % ! ^ & | < > or a line break, and the program is a batch file'
            )
    shell = _word(ntpath.join(_system(environment), "cmd.exe"))
    words = " ".join([f'"{program}"', *map(_quoted, arguments)])
    # /d: no commands of the registry first, /v:off: "!" means nothing, /s: only the outer quotes go
    return f'{shell} /d /v:off /s /c "{words}"'


def tree_killer(pid: int, environment: Mapping[str, str]) -> list[str]:
    """Return the command that ends a process and all that it started, while it still runs."""
    return [ntpath.join(_system(environment), "taskkill.exe"), "/T", "/F", "/PID", str(pid)]


def _system(environment: Mapping[str, str]) -> str:
    return ntpath.join(environment.get("SYSTEMROOT", r"C:\Windows"), "System32")


def _is_whole(folder: str) -> bool:
    """Return whether a folder of PATH is one and the same wherever we are."""
    drive, rest = ntpath.splitdrive(folder)
    return bool(drive) and rest.startswith(("\\", "/"))


def _word(argument: str) -> str:
    """Return an argument as programs read their line, by the rules of Microsoft's C library."""
    escaped = _BEFORE_QUOTE.sub(r'\1\1\\"', argument)
    has_space = " " in argument or "\t" in argument
    return _in_quotes(escaped) if has_space or not argument else escaped


def _quoted(argument: str) -> str:
    """Return an argument for a batch file: in quotes, so that nothing in it is the shell's."""
    return argument if _PLAIN.fullmatch(argument) else _in_quotes(argument)


def _in_quotes(argument: str) -> str:
    """Return an argument in quotes; backslashes before the last quote would mean the quote."""
    end = "\\" * (len(argument) - len(argument.rstrip("\\")))
    return f'"{argument}{end}"'
