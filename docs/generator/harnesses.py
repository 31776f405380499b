"""Our features by VS Code's two harnesses, with the tests that prove each cell.

A cell without a test says "no" or "not tried" (`tests/docs/test_harnesses.py`).
"""

from __future__ import annotations

from bridge.value import Value

from .markdown import table


class Cell(Value):
    """The offer of a harness, and its tests, as `file::name`."""

    says: str
    tests: tuple[str, ...] = ()


_PERSON = "extension/e2e/person.test.ts::"
_CHOICES = "extension/e2e/choices.test.ts::"
_LIBRARY = "extension/e2e/library.test.ts::"
_CONTINUITY = "extension/e2e/continuity.test.ts::"
_TURNS = "extension/e2e/agent_host/turns.test.ts::"
_CHATS = "extension/e2e/agent_host/chats.test.ts::"
_PROGRESS = "tests/actors/progress/test_turn.py::"
_LOCAL_CASES = "tests/recordings/cases.py::"
_HOST_CASES = "tests/recordings/host_cases.py::"
_PROMPT = "tests/agents/acp/prompt/test_build.py::"
_NOT_TRIED = Cell("not tried")


def _yes(*tests: str) -> Cell:
    return Cell("yes", tests)


FEATURES: dict[str, tuple[Cell, Cell]] = {
    "Chats of several turns, in one session of the agent": (
        _yes(f"{_PERSON}a chat of three turns with Eliza"),
        _yes(f"{_TURNS}three turns are told to one session"),
    ),
    "Two chats at once": (
        _yes(f"{_PERSON}two chats are answered at once, each its own"),
        _yes(f"{_HOST_CASES}equal_chats_of_the_agent_host"),
    ),
    "An answer while the agent works": (
        Cell("grows word by word", (f"{_LIBRARY}an answer streams, in more than one piece",)),
        Cell(
            "grows in pieces: after 2 seconds, then in growing steps of up to 20. At the end "
            "VS Code folds the earlier pieces",
            (
                f"{_TURNS}the answer is seen while it grows, and a later stop reaches the agent "
                "within 30 s",
                f"{_PROGRESS}test_the_pauses_grow_from_two_seconds_to_twenty",
            ),
        ),
    ),
    "Turns of more than ten minutes": (
        _NOT_TRIED,
        _yes(
            f"{_TURNS}a turn of eleven minutes is done once",
            f"{_TURNS}a long turn is done once, and each of its words is seen once",
            f"{_PROGRESS}test_a_turn_of_eleven_minutes_is_one_turn_and_no_request_is_long",
        ),
    ),
    "_Allow Once_ and _Skip_": (
        _yes(
            f"{_PERSON}an agent asks for permission, and is allowed",
            f"{_PERSON}an agent asks for permission, and is denied",
        ),
        _yes(f"{_TURNS}what is allowed is allowed", f"{_TURNS}what is skipped is denied"),
    ),
    "_Always Allow..._": (
        _yes(
            "extension/e2e/permission.test.ts::a command is always allowed, and is shown without "
            "a question"
        ),
        _NOT_TRIED,
    ),
    "Forms and pages that an agent asks for": (
        _yes(
            "extension/e2e/forms.test.ts::a form is filled in field by field, with a way back",
            "extension/e2e/forms.test.ts::a page is opened after its host was shown",
        ),
        Cell(
            "yes, for up to nine minutes",
            (
                f"{_TURNS}a form stays while its user thinks, and the agent gets what was chosen",
                "tests/actors/progress/test_pace.py::"
                "test_before_the_host_drops_the_response_the_form_is_closed",
            ),
        ),
    ),
    "Stop": (
        Cell(
            "reaches the agent at once",
            (
                f"{_PERSON}an answer is stopped in the middle, and the chat goes on in the same "
                "session",
            ),
        ),
        Cell(
            "reaches the agent late. At the beginning of an answer: within 12 seconds. Later: "
            "within 30 seconds. During a question or a tool: with your next message",
            (
                f"{_TURNS}a stop in the first seconds reaches the agent within 12 s",
                f"{_TURNS}the answer is seen while it grows, and a later stop reaches the agent "
                "within 30 s",
                f"{_PROGRESS}test_a_stop_reaches_the_agent_in_time_whenever_it_comes",
                f"{_TURNS}a question that is stopped cancels the turn, as soon as the next message "
                "comes",
                f"{_HOST_CASES}stop_of_a_call",
            ),
        ),
    ),
    "Tools of the editor, also two at once": (
        _yes(
            f"{_PERSON}an agent uses two of the editor's own tools at once, and changes a file on "
            "disk"
        ),
        _yes(f"{_TURNS}two tools at once bring two results, each to its own call"),
    ),
    "_Retry_": (
        _yes(f"{_PERSON}an answer is asked for again"),
        Cell("no: VS Code has no such button there"),
    ),
    "An edited message": (
        _yes(f"{_PERSON}an earlier message is edited, and the agent forgets what was taken back"),
        _yes(f"{_CHATS}an edited message takes the place of the one before"),
    ),
    "_Restore Checkpoint_": (
        _yes(f"{_CONTINUITY}a checkpoint is restored and left again, in the same session"),
        _yes(f"{_CHATS}what comes after a restored checkpoint is forgotten"),
    ),
    "A forked chat": (
        _yes(f"{_LOCAL_CASES}fork"),
        _yes(
            f"{_HOST_CASES}fork_in_the_agent_host",
            f"{_CHATS}a fork of the chat has a session of its own, and the chat goes on in its",
        ),
    ),
    "A reloaded window": (
        Cell(
            "the chat goes on in its session",
            (
                f"{_CONTINUITY}the window is loaded anew, and the chat goes on in the agent's "
                "session",
            ),
        ),
        Cell(
            "the same",
            (f"{_CHATS}a chat goes on in its session after the window was loaded again",),
        ),
    ),
    "A summarised chat (`/compact`)": (
        Cell("the chat goes on in its session", (f"{_LOCAL_CASES}compaction_by_command",)),
        Cell(
            "the same",
            (
                f"{_CHATS}a compacted chat goes on in its session",
                f"{_CHATS}a chat that is summed up while it goes on stays in its session",
            ),
        ),
    ),
    "Sub-agents of the editor's agent": (
        Cell("each has a session of its own", (f"{_LOCAL_CASES}sub_agents",)),
        Cell("the same", (f"{_HOST_CASES}sub_agents_of_the_agent_host",)),
    ),
    "Slash commands of the agent": (
        _yes(f"{_PROMPT}test_a_command_comes_first_where_agents_look_for_it"),
        _yes(f"{_PROMPT}test_a_command_works_behind_the_date_of_the_agent_host"),
    ),
    "Images in a message": (
        _yes(f"{_LIBRARY}an image reaches the agent"),
        _yes(f"{_CHATS}an image is shown to the agent"),
    ),
    "Images in a tool's result": (
        _NOT_TRIED,
        Cell("no: VS Code replaces them by text"),
    ),
    "An agent's thinking": (_yes(f"{_LIBRARY}thinking arrives as thinking"), _NOT_TRIED),
    "An agent that fails": (
        Cell(
            "you read why",
            (f"{_PERSON}a failure is told in words, and the chat goes on",),
        ),
        Cell(
            "you read why, after VS Code has asked five more times; the agent is asked once",
            (f"{_TURNS}the user reads why the agent failed",),
        ),
    ),
    "Login buttons": (
        _yes(
            "extension/e2e/login.test.ts::a login is a button that opens a terminal with the "
            "agent's own command"
        ),
        _NOT_TRIED,
    ),
    "_Add Agent_": (
        _yes(f"{_PERSON}an agent is added in three steps, and is among the models at once"),
        _NOT_TRIED,
    ),
    "Options of a model in the picker": (
        _yes(
            f"{_CHOICES}a model and an effort are chosen beside the model, and go to the agent once"
        ),
        _NOT_TRIED,
    ),
    "Cost of a chat": (
        Cell(
            "in the statistics",
            (f"{_CHOICES}the statistics say what the chat has used",),
        ),
        _NOT_TRIED,
    ),
    "Tokens that an answer used, from the agent": (
        Cell(
            "sent to VS Code",
            (
                "tests/actors/test_editor.py::test_with_initialize_the_other_kinds_of_part_are_sent_too",
            ),
        ),
        _NOT_TRIED,
    ),
    "Token counts": (
        Cell(
            "counted in the editor",
            (f"{_LIBRARY}tokens are counted in the editor: not one is asked of the program",),
        ),
        Cell("no: VS Code asks for none there"),
    ),
    "A browser, with VS Code on a server": (
        _yes(f"{_PERSON}a chat of three turns with Eliza"),
        Cell("no: VS Code offers no models of extensions there"),
    ),
    "Remote windows (SSH, WSL)": (
        _NOT_TRIED,
        Cell("no: VS Code offers no models of extensions there"),
    ),
}


def features() -> str:
    """Return the table of features."""
    return table(
        ["", "local harness", "Agent Host"],
        [
            [feature, local.says, agent_host.says]
            for feature, (local, agent_host) in FEATURES.items()
        ],
    )
