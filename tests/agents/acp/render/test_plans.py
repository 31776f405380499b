from __future__ import annotations

import pytest

from agents.acp.render.plans import Plans, PlanView
from agents.acp.schema.plans import PlanEntry
from agents.acp.schema.unstable import PlanFile, PlanItems, PlanMarkdown, UnknownPlan
from tests.agents.acp.scenes import plan


def show(*plans: tuple[str, ...]) -> list[str]:
    view = PlanView()
    return [view.show(plan(*entries).entries) for entries in plans]


def test_a_plan_is_first_shown_whole() -> None:
    (text,) = show(("x a", "> b", ". c"))
    assert text == "**Plan**\n\n- [x] a\n- [ ] b ← *now*\n- [ ] c"


@pytest.mark.checklist(27)
def test_later_only_what_changed_is_shown() -> None:
    _, text = show(("> a", ". b", ". c"), ("x a", "> b", ". d", ". c"))
    assert text == "**Plan** (1/4) ☑ a · ▸ b · *new:* d"


@pytest.mark.checklist(27)
def test_an_unchanged_plan_is_not_repeated() -> None:
    assert show(("> a", ". b"), ("> a", ". b"))[1] == ""


def test_a_step_that_is_put_back_says_nothing() -> None:
    assert show(("> a", ". b"), (". a", ". b"))[1] == ""


def test_a_dropped_step_is_named_unless_it_was_done() -> None:
    _, text = show(("x a", ". b", "> c"), ("> c",))
    assert text == "**Plan** (0/1) *dropped:* b"


def test_a_step_that_the_agent_gave_up_is_not_done() -> None:
    first, *later = show(
        ("x a", "- b", ". c"), ("x a", "x b", "- c"), ("x a", "- b", "x c"), (". b",), ("x b",)
    )
    assert first == "**Plan**\n\n- [x] a\n- [ ] b *dropped*\n- [ ] c"
    assert later == ["**Plan** (1/1) *dropped:* c", "", "", "**Plan** ☑ done"]


def test_a_step_that_stands_there_twice_is_two_steps() -> None:
    _, text = show((". a", ". b"), (". a", ". a", ". b"))
    assert text == "**Plan** (0/3) *new:* a"


def test_the_end_is_one_short_line() -> None:
    assert show(("x a", "> b"), ("x a", "x b"))[1] == "**Plan** ☑ all 2 steps done"
    assert show(("> a",), ("x a",))[1] == "**Plan** ☑ done"


def test_another_plan_is_shown_whole() -> None:
    assert show(("x a",), (". z",))[1] == "**Plan**\n\n- [ ] z"


def test_a_plan_that_is_cleared_says_nothing_and_the_next_is_whole() -> None:
    assert show((". a",), (), (". a",))[1:] == ["", "**Plan**\n\n- [ ] a"]


def test_a_huge_plan_is_bounded() -> None:
    first, second = show(
        tuple(f". step {number}" for number in range(80)),
        tuple(f"> step {number}" for number in range(80)),
    )
    assert first.endswith("- *… 30 more steps*")
    assert second.endswith("▸ step 7 · 72 more")


def test_a_step_stays_on_its_line() -> None:
    assert show((". a\n- [x] *b*", ". "))[0].split("\n")[2:] == [
        r"- [ ] a - \[x\] \*b\*",
        "- [ ] …",
    ]


# Plans with an id.


def test_each_plan_of_steps_is_shown_by_its_own_changes() -> None:
    plans = Plans()
    one, other = PlanEntry("Look"), PlanEntry("Mend")
    assert plans.show(PlanItems("a", (one, other))) == "**Plan**\n\n- [ ] Look\n- [ ] Mend"
    assert plans.show(PlanItems("b", (one,))) == "**Plan**\n\n- [ ] Look"
    done = PlanEntry("Look", status="completed")
    assert plans.show(PlanItems("a", (done, other))) == "**Plan** (1/2) ☑ Look"
    assert plans.rest() == []


def test_a_plan_in_a_file_is_a_link_once() -> None:
    plans = Plans()
    assert plans.show(PlanFile("a", "file:///w/plan.md")) == (
        "**Plan** 📎 [plan.md](file:///w/plan.md)"
    )
    assert plans.show(PlanFile("a", "file:///w/plan.md")) == ""
    assert plans.rest() == []


def test_a_plan_in_markdown_is_shown_first_and_last() -> None:
    plans = Plans()
    assert plans.show(PlanMarkdown("a", " ")) == ""
    assert plans.show(PlanMarkdown("a", "Look.\n")) == "**Plan**\n\nLook."
    assert plans.show(PlanMarkdown("a", "Mend.")) == ""
    assert plans.show(PlanMarkdown("a", "Test.")) == ""
    assert plans.rest() == ["**Plan**\n\nTest."]
    assert plans.rest() == []


def test_a_long_plan_is_cut() -> None:
    shown = Plans().show(PlanMarkdown("a", "\n".join(f"Step {n}" for n in range(500))))
    assert "… 300 more lines …" in shown


def test_a_plan_that_was_removed_is_dropped_once() -> None:
    plans = Plans()
    assert plans.remove("a") == ""
    plans.show(PlanMarkdown("a", "Look."))
    plans.show(PlanMarkdown("a", "Mend."))
    assert plans.remove("a") == "**Plan** *dropped*"
    assert plans.remove("a") == ""
    assert plans.rest() == []


def test_a_plan_of_an_unknown_kind_is_left_out() -> None:
    assert Plans().show(UnknownPlan("graph", {})) == ""
