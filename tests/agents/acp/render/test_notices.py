from __future__ import annotations

from msgspec.structs import replace

from agents.acp.render.notices import Notices
from agents.acp.render.paragraphs import Page
from agents.acp.render.session_view import SessionView
from agents.acp.schema.options import (
    SessionConfigBoolean,
    SessionConfigSelect,
    SessionConfigSelectItem,
    values_of,
)
from agents.acp.schema.unstable import SubagentState, SubagentUpdate
from agents.acp.schema.updates import (
    CompactionUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    Notice,
)
from agents.events import Say
from bridge.wire import AgentCommand


def text(*says: Say) -> str:
    assert all(say.by_us for say in says)
    return "".join(say.text for say in says)


def notices(view: SessionView | None = None) -> Notices:
    return Notices(Page(), view or SessionView())


def test_a_notice_is_a_quotation_on_one_line() -> None:
    says = notices().notice(Notice("error", "No\n# quota", "Buy *more*.\n\nx"))
    assert text(*says) == "> ❌ **No # quota**: Buy \\*more\\*. x"
    assert text(*notices().notice(Notice("strange", "Hello"))) == "> 💡 **Hello**"


def test_a_mode_is_told_when_it_changes() -> None:
    view = SessionView(mode="code")
    assert notices(view).mode(CurrentModeUpdate("code")) == ()
    assert text(*notices(view).mode(CurrentModeUpdate("plan"))) == "🔀 Mode: `plan`"
    assert notices(view).mode(CurrentModeUpdate("plan")) == ()
    assert notices(view).mode(CurrentModeUpdate("")) == ()
    assert text(*notices(view).mode(CurrentModeUpdate("\n"))) == "🔀 Mode: `?`"


def test_an_option_is_told_when_it_changes_by_the_name_of_its_value() -> None:
    values = (SessionConfigSelectItem("Low", "low"), SessionConfigSelectItem("High", "high"))
    effort = SessionConfigSelect("e", "Ef*fort", "low", values, category="thought_level")
    mode = SessionConfigSelect("m", "Mode", "a", (), category="mode")
    search = SessionConfigBoolean("s", "Search", False)
    view = SessionView(mode="a", options=values_of((effort, mode, search)))
    them = notices(view)
    assert them.options(ConfigOptionUpdate((effort, mode, search))) == []
    changed = (
        replace(effort, current_value="high"),
        replace(mode, current_value="b"),
        replace(search, current_value=True),
        replace(search, id="new"),
    )
    said = text(*them.options(ConfigOptionUpdate(changed)))
    lines = ["🔀 Ef\\*fort: `High`", "🔀 Mode: `b`", "🔀 Search: `On`"]
    assert said.split("\n\n") == lines
    assert them.mode(CurrentModeUpdate("b")) == ()
    unnamed = replace(effort, current_value="odd", name="\n")
    assert text(*them.options(ConfigOptionUpdate((unnamed,)))).strip() == "🔀 Option: `odd`"


def test_a_compaction_is_told_when_it_begins_and_when_it_ends() -> None:
    them = notices()
    says = [
        *them.compaction(CompactionUpdate("1", "in_progress")),
        *them.compaction(CompactionUpdate("1", "summarising")),
        *them.compaction(CompactionUpdate("1", "completed")),
        *them.compaction(CompactionUpdate("1", "completed")),
        *them.compaction(CompactionUpdate("1", "in_progress")),
    ]
    assert text(*says) == "🗜️ The agent condenses its memory of this chat … ✔"


def test_a_compaction_of_which_only_the_end_is_heard_is_told_once() -> None:
    says = notices().compaction(CompactionUpdate("1", "failed", error="too\nlong"))
    assert text(*says) == "🗜️ The agent condenses its memory of this chat ✘ *failed*: too long"
    says = notices().compaction(CompactionUpdate("1", "cancelled"))
    assert text(*says) == "🗜️ The agent condenses its memory of this chat ✘ *cancelled*"


def test_the_commands_are_named_up_to_a_few() -> None:
    view = SessionView()
    assert notices(view).commands() == ()
    view.record.commands = tuple(AgentCommand(f"c{number}`", "") for number in range(2))
    line = "⌨️ Commands of this agent: `` /c0` ``, `` /c1` ``. A message can begin with one."
    assert text(*notices(view).commands()) == line
    view.record.commands = tuple(AgentCommand(f"c{number}", "") for number in range(11))
    assert "`/c7` and 3 more. A" in text(*notices(view).commands())


def test_a_sub_agent_is_told_when_it_is_new_and_when_it_does_something_else() -> None:
    view = SessionView()
    them = notices(view)

    def shown(*about: str, state: str | None = None) -> str:
        title, description = (*about, None, None)[:2]
        now = None if state is None else SubagentState(state)
        return text(*them.subagent(SubagentUpdate("s", title, description, now))).strip()

    first = shown("Re*view\n", "Looks at\nthe change", state="running")
    assert first == "🤖 **Re\\*view**: Looks at the change …"
    assert shown("Review", "It is described anew") == ""
    assert shown(state="running") == ""
    assert shown(state="requires_action") == "🤖 **Review** *waits for you*"
    assert shown(state="unknown") == ""
    them = notices(view)  # in the next turn
    assert shown(state="idle") == "🤖 **Review** ✔"


def test_a_sub_agent_without_a_title_has_a_name_all_the_same() -> None:
    view = SessionView()
    assert text(*notices(view).subagent(SubagentUpdate("s"))) == "🤖 **Sub-agent**"
    for number in range(200):
        notices(view).subagent(SubagentUpdate(f"s{number}"))
    assert view.subagent("s") is None
    assert view.subagent("s100") == ("", "")


def test_a_denial_tells_what_was_denied_and_why_and_each_reason_once() -> None:
    notices = Notices(Page(), SessionView())
    told = [
        notices.decision(title, "You skipped it.", is_allowed=False)
        for title in ("Run `ls`", "Run *it*")
    ]
    assert [say.text.strip() for says in told for say in says] == [
        "✘ **Not allowed:** Run `ls`. You skipped it.",
        "✘ **Not allowed:** Run \\*it\\*",
    ]


def test_what_a_rule_allows_is_told_each_time() -> None:
    notices = Notices(Page(), SessionView())
    told = [notices.decision("`ls`", "Take it back.", is_allowed=True) for _ in range(2)]
    assert [say.text.strip() for says in told for say in says] == [
        "✔ **Allowed by your rule:** `ls`. Take it back.",
        "✔ **Allowed by your rule:** `ls`",
    ]
