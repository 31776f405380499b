from __future__ import annotations

import pytest

from agents.acp.schema.options import (
    SessionConfigSelect,
    SessionConfigSelectItem,
    SessionConfigSelectOption,
)


@pytest.mark.checklist(20)
def test_choices_are_found_in_groups_and_out_of_them() -> None:
    fast = SessionConfigSelectOption("fast", "Fast", "for haste")
    smart = SessionConfigSelectOption("smart", "Smart")
    option = SessionConfigSelect(
        "model",
        "Model",
        "fast",
        (
            SessionConfigSelectItem("Fast", "fast", "for haste"),
            SessionConfigSelectItem("Big ones", group="big", options=(smart,)),
        ),
    )
    assert option.choices == (fast, smart)
