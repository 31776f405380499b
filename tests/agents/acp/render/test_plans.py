from __future__ import annotations

from agents.acp.render.plans import Plans
from agents.acp.schema.plans import PlanEntry
from agents.acp.schema.unstable import PlanFile, PlanItems, PlanMarkdown, UnknownPlan


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
