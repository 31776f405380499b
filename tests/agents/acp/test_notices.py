from __future__ import annotations

from agents.acp.notices import Notices
from agents.acp.page import Page
from agents.acp.told import Told
from agents.acp.updates import CompactionUpdate, CurrentModeUpdate, Notice
from agents.events import Say


def text(*says: Say) -> str:
    assert all(say.by_us for say in says)
    return "".join(say.text for say in says)


def notices(told: Told | None = None) -> Notices:
    return Notices(Page(), told or Told())


def test_a_notice_is_a_quotation_on_one_line() -> None:
    says = notices().notice(Notice("error", "No\n# quota", "Buy *more*.\n\nx"))
    assert text(*says) == "> ❌ **No # quota**: Buy \\*more\\*. x"
    assert text(*notices().notice(Notice("strange", "Hello"))) == "> 💡 **Hello**"


def test_a_mode_is_told_when_it_changes() -> None:
    told = Told(mode="code")
    assert notices(told).mode(CurrentModeUpdate("code")) == ()
    assert text(*notices(told).mode(CurrentModeUpdate("plan"))) == "🔀 Mode: `plan`"
    assert notices(told).mode(CurrentModeUpdate("plan")) == ()
    assert notices(told).mode(CurrentModeUpdate("")) == ()
    assert text(*notices(told).mode(CurrentModeUpdate("\n"))) == "🔀 Mode: `?`"


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


def test_a_denial_tells_what_was_denied_and_why_and_each_reason_once() -> None:
    notices = Notices(Page(), Told())
    told = [
        notices.decision(title, "You skipped it.", is_allowed=False)
        for title in ("Run `ls`", "Run *it*")
    ]
    assert [say.text.strip() for says in told for say in says] == [
        "✘ **Not allowed:** Run `ls`. You skipped it.",
        "✘ **Not allowed:** Run \\*it\\*",
    ]


def test_what_a_rule_allows_is_told_each_time() -> None:
    notices = Notices(Page(), Told())
    told = [notices.decision("`ls`", "Take it back.", is_allowed=True) for _ in range(2)]
    assert [say.text.strip() for says in told for say in says] == [
        "✔ **Allowed by your rule:** `ls`. Take it back.",
        "✔ **Allowed by your rule:** `ls`",
    ]
