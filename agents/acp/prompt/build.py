"""Build the content blocks of `session/prompt` from the editor's messages. Pure.

`settings.context` selects them. "request" means the user's words, attachments, and the content that
the editor shows. "full" adds the host's system prompt and every tag. A record of the messages that
the agent missed comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from agents.acp.schema.content import KnownContent, TextContent
from agents.acp.schema.initialize import PromptCapabilities
from agents.events import Prompt
from bridge.wire import ChatMessage, ToolResultPart
from bridge.work import Work

from .attachments import Atom
from .budget import ContextWindow
from .transcript import Context, record, result_entry, tool_names
from .user_message import UserMessage, asked, whole

_GO_ON = "Go on with what was asked last, now that these results are there."
_SYSTEM_CHANGED = "(The system prompt has changed. This one replaces the one before.)"
_EMPTY_MESSAGE = "(The user sent an empty message.)"


def system_to_tell(prompt: Prompt, told: Sequence[ChatMessage] | None) -> tuple[ChatMessage, ...]:
    """Return the host's system prompt if it differs from the one that the agent was `told`.

    It is left out if the next messages begin with it anyway.
    """
    system = prompt.system
    if system is None or prompt.settings.context != "full" or system == told:
        return ()
    begins = (*prompt.transcript, *prompt.messages)[: len(system)]
    return () if begins == system else system


def prompt_blocks(
    prompt: Prompt,
    capabilities: PromptCapabilities,
    *,
    system: Sequence[ChatMessage] = (),
    budget: int | None = None,
) -> Work[tuple[KnownContent, ...]]:
    """Return the blocks; there is at least one. Each message is a step.

    `system` are system messages in the place of those that the agent knows. An assistant's message
    among the new ones comes from another agent. So it and the messages before it belong to the
    record. `budget` is the number of bytes in that, None: what agents usually have room for.
    """
    context: Context = prompt.settings.context or "request"
    budget = ContextWindow().record_budget if budget is None else budget
    over = _over(prompt.messages)
    before = (*prompt.transcript, *prompt.messages[:over])
    earlier = [message for message in before if message.role == "system"]
    new = prompt.messages[over:]
    writer = _Writer()
    if system:
        writer.paragraph([_SYSTEM_CHANGED])
    if context == "full":
        later = (message for message in new if message.role == "system")
        for message in (*earlier, *system, *later):
            writer.paragraph(["<system>\n", *whole(message, capabilities), "\n</system>"])
            yield
    past = [message for message in before if message.role != "system"]
    writer.write((yield from record(past, capabilities, context, budget)))
    names = tool_names((*before, *new))
    has_results = False
    says_something = False
    for message in new:
        yield
        for part in message.content:
            if isinstance(part, ToolResultPart):
                has_results = True
                entry = result_entry(part, names, capabilities)
                writer.paragraph([f"[{entry.head}]\n", *entry.atoms])
        if message.role == "user":
            atoms = _user(message, capabilities, context, is_first=writer.is_empty)
            says_something = says_something or _is_something(atoms)
            writer.paragraph(atoms)
    if not says_something:
        writer.paragraph([_GO_ON if has_results else _EMPTY_MESSAGE])
    return writer.blocks()


def _over(messages: Sequence[ChatMessage]) -> int:
    """Return how many of the messages belong to the record."""
    for at in range(len(messages), 0, -1):
        if messages[at - 1].role == "assistant":
            return at
    return 0


def _user(
    message: ChatMessage, capabilities: PromptCapabilities, context: Context, *, is_first: bool
) -> list[Atom]:
    if context == "full":
        return whole(message, capabilities)
    found = asked(message, capabilities)
    if is_first and _is_command(found):
        # Agents look for their commands where a prompt begins.
        rest = [*found.before, *found.after]
        return [*found.request, "\n\n", *rest] if rest else found.request
    return found.atoms


def _is_command(found: UserMessage) -> bool:
    first = next(iter(found.request), "")
    return isinstance(first, str) and first.lstrip().startswith("/")


def _is_something(atoms: Iterable[Atom]) -> bool:
    return any(not isinstance(atom, str) or atom.strip() for atom in atoms)


@attrs.define
class _Writer:
    """Joins text, and keeps blocks apart from it."""

    _blocks: list[KnownContent] = attrs.field(factory=list[KnownContent])
    _text: list[str] = attrs.field(factory=list[str])

    @property
    def is_empty(self) -> bool:
        return not self._blocks and not any(text.strip() for text in self._text)

    def write(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, str):
                self._text.append(atom)
            else:
                self._end_text("\n")
                self._blocks.append(atom)

    def paragraph(self, atoms: Sequence[Atom]) -> None:
        """Write a paragraph, with text in a block of its own."""
        self._end_text("\n\n")
        self.write(atoms)

    def blocks(self) -> tuple[KnownContent, ...]:
        self._end_text("")
        return tuple(self._blocks)

    def _end_text(self, end: str) -> None:
        """Finish a text. Some agents join blocks, so it ends its line where something follows."""
        text = "".join(self._text)
        self._text.clear()
        if text.strip():
            self._blocks.append(TextContent(text if text.endswith("\n") else text + end))
