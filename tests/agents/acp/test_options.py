"""What can be chosen in a session (point 20), and how."""

from __future__ import annotations

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from agents.acp.options import (
    EFFORT,
    Change,
    Choices,
    Picked,
    change_to,
    chosen,
    not_offered_now,
    not_permitted,
    properties,
    to_ask,
    unasked,
    undone_by_another,
)
from agents.acp.schema.methods import (
    LoadSessionResponse,
    NewSessionResponse,
    SetSessionConfigOptionRequest,
    SetSessionModelRequest,
    SetSessionModeRequest,
)
from agents.acp.schema.options import (
    ModelInfo,
    SessionConfigBoolean,
    SessionConfigOption,
    SessionConfigSelect,
    SessionConfigSelectItem,
    SessionConfigSelectOption,
    SessionMode,
    SessionModelState,
    SessionModeState,
)
from bridge.errors import Failure

FLAT = (SessionConfigSelectItem("Small", "small"), SessionConfigSelectItem("Big", "big"))
GROUPED = (
    SessionConfigSelectItem(
        "Family", group="f", options=(SessionConfigSelectOption("big", "Big"),)
    ),
    SessionConfigSelectItem(
        "Other", group="o", options=(SessionConfigSelectOption("small", "Small"),)
    ),
)
MODES = SessionModeState("ask", (SessionMode("ask", "Ask"), SessionMode("code", "Code")))
MODELS = SessionModelState("small", (ModelInfo("small", "Small"), ModelInfo("big", "Big")))


def select(
    id_: str = "model",
    category: str | None = "model",
    items: tuple[SessionConfigSelectItem, ...] = FLAT,
    current: str = "small",
) -> SessionConfigSelect:
    return SessionConfigSelect(id_, "Model", current, items, category=category)


def change(choices: Choices, kind: str, wanted: str) -> Change | Failure | None:
    return change_to(choices, "s", kind, wanted)


@pytest.mark.parametrize("items", [FLAT, GROUPED], ids=["flat", "grouped"])
@pytest.mark.parametrize("wanted", ["big", "Big", "BIG"])
def test_a_model_is_chosen_by_id_or_name(
    items: tuple[SessionConfigSelectItem, ...], wanted: str
) -> None:
    """Point 20: options are flat or in groups."""
    choices = Choices((select(items=items),))
    assert change(choices, "model", wanted) == SetSessionConfigOptionRequest("s", "model", "big")


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ((select("m", None), select("x", "model")), "x"),
        ((select("model", None),), "model"),
        ((select("model", "thought_level"), select("llm", "model")), "llm"),
        ((SessionConfigBoolean("model", "On", True), select("llm", "model")), "llm"),
    ],
)
@pytest.mark.checklist(20)
def test_an_option_is_found_by_its_category_or_else_its_id(
    options: tuple[SessionConfigOption, ...], chosen: str
) -> None:
    """Point 20: the category is optional, and other kinds of option are ignored."""
    request = change(Choices(options), "model", "big")
    assert isinstance(request, SetSessionConfigOptionRequest)
    assert request.config_id == chosen


@pytest.mark.checklist(20)
def test_options_come_before_modes_and_modes_before_models() -> None:
    """Point 20: the order of the ways."""
    mode = select(
        "mode",
        "mode",
        (SessionConfigSelectItem("Ask", "ask"), SessionConfigSelectItem("C", "code")),
    )
    whole = Choices((select(), mode), MODES, MODELS)
    assert isinstance(change(whole, "model", "big"), SetSessionConfigOptionRequest)
    assert isinstance(change(whole, "mode", "code"), SetSessionConfigOptionRequest)
    old = Choices((), MODES, MODELS)
    assert change(old, "mode", "code") == SetSessionModeRequest("s", "code")
    assert change(old, "model", "big") == SetSessionModelRequest("s", "big")


@pytest.mark.parametrize(
    ("kind", "choices", "wanted"),
    [
        ("model", Choices((select(),)), "small"),
        ("mode", Choices((), MODES), "Ask"),
        ("model", Choices((), None, MODELS), "Small"),
    ],
)
def test_what_is_chosen_already_is_left_alone(kind: str, choices: Choices, wanted: str) -> None:
    assert change(choices, kind, wanted) is None


@pytest.mark.parametrize(
    ("kind", "choices", "told"),
    [
        ("model", Choices((select(),)), "small, big"),
        ("mode", Choices((), MODES), "ask, code"),
        ("model", Choices((), MODES, MODELS), "small, big"),
        ("model", Choices((), MODES), "doesn't offer a choice of model"),
        ("mode", Choices((select(),), None, MODELS), "doesn't offer a choice of mode"),
    ],
)
def test_what_isn_t_offered_is_told_with_what_is(kind: str, choices: Choices, told: str) -> None:
    failure = change(choices, kind, "huge")
    assert isinstance(failure, Failure)
    assert failure.kind == "NotFound"
    assert "'huge'" in failure.message
    assert told in failure.message


def test_what_is_told_of_many_is_bounded() -> None:
    items = tuple(SessionConfigSelectItem(str(n), f"model-{n}") for n in range(1000))
    failure = change(Choices((select(items=items),)), "model", "huge")
    assert isinstance(failure, Failure)
    assert len(failure.message) < 500
    assert failure.message.endswith(", ....")


def test_a_change_is_remembered() -> None:
    choices = Choices((select(), SessionConfigBoolean("b", "B", True)), MODES, MODELS)
    wants: tuple[tuple[str, str], ...] = (("model", "big"), ("mode", "code"))
    for kind, wanted in wants:
        request = change(choices, kind, wanted)
        assert request is not None
        assert not isinstance(request, Failure)
        choices = choices.after(request)
        assert change(choices, kind, wanted) is None
    old = Choices((), None, MODELS).after(SetSessionModelRequest("s", "big"))
    assert change(old, "model", "big") is None
    none = Choices()
    assert none.after(SetSessionModelRequest("s", "big")) == none
    assert none.with_mode("code") == none


def test_what_a_session_offers_is_what_it_was_opened_with() -> None:
    assert Choices.of(NewSessionResponse("s", MODES, None, MODELS)) == Choices((), MODES, MODELS)
    assert Choices.of(LoadSessionResponse(None, (select(),))) == Choices((select(),))


@pytest.mark.parametrize("kind", ["model", "mode"])
def test_what_is_chosen_is_known_in_each_way_and_without_one(kind: str) -> None:
    assert chosen(Choices(), kind) is None
    option = SessionConfigSelect("it", "It", "small", FLAT, category=kind)
    modes = SessionModeState("ask", (SessionMode("ask", "Ask"),))
    models = SessionModelState("big", (ModelInfo("big", "Big"),))
    assert chosen(Choices((option,), modes, models), kind) == "small"
    assert chosen(Choices((), modes, models), kind) == {"model": "big", "mode": "ask"}[kind]


def modes(current: str, *offered: str) -> Choices:
    return Choices(
        modes=SessionModeState(current, tuple(SessionMode(one, one.title()) for one in offered))
    )


ASKING = {"mode": {"auto": "default", "bypass": "default"}, "allow_all": {"on": "off"}}
SWITCH = (SessionConfigSelectItem("On", "on"), SessionConfigSelectItem("Off", "off"))
ALL_MODES = ("auto", "bypass", "default", "plan")


@pytest.mark.parametrize(
    ("current", "offered", "wanted"),
    [
        ("auto", ("auto", "default"), [("mode", "default")]),
        ("auto", ("auto",), []),
        ("plan", ("plan", "default"), []),
    ],
)
def test_a_mode_in_which_the_user_is_asked_is_chosen_where_there_is_one(
    current: str, offered: tuple[str, ...], wanted: list[tuple[str, str]]
) -> None:
    assert to_ask(modes(current, *offered), ASKING, {}) == wanted


def test_an_option_is_changed_so_that_the_user_is_asked() -> None:
    choices = Choices((select("allow_all", "permissions", SWITCH, "on"),))
    assert to_ask(choices, ASKING, {}) == [("allow_all", "off")]
    assert to_ask(Choices(), ASKING, {}) == []


def test_what_the_user_has_chosen_is_left_alone_unless_the_permissions_are_strict() -> None:
    choices = modes("bypass", *ALL_MODES)
    assert to_ask(choices, ASKING, {"mode": "bypass"}) == []
    assert to_ask(choices, ASKING, {"mode": "bypass"}, is_strict=True) == [("mode", "default")]
    left = to_ask(choices, ASKING, {"mode": "plan"})
    assert left == [("mode", "default")], "the agent went on from there, and hosts send defaults"
    assert to_ask(modes("bypass", "bypass"), ASKING, {}, is_strict=True) == [("mode", "default")]


def test_what_the_user_s_own_mode_switches_on_is_left_on() -> None:
    option = select("allow_all", "permissions", SWITCH, "on")
    choices = replace(modes("bypass", *ALL_MODES), options=(option,))
    assert to_ask(choices, ASKING, {"mode": "bypass"}) == []
    settled = replace(choices, modes=modes("plan", *ALL_MODES).modes)
    assert to_ask(settled, ASKING, {"mode": "plan"}) == [("allow_all", "off")]


def test_a_choice_by_which_the_agent_never_asks_is_found_by_id_and_by_name() -> None:
    choices = replace(
        modes("default", *ALL_MODES), options=(select("allow_all", "permissions", SWITCH, "off"),)
    )
    wanted = {"mode": "Bypass", "allow_all": "on", "model": "auto"}
    assert unasked(choices, wanted, ASKING) == {"mode": "Bypass", "allow_all": "on"}
    assert unasked(choices, {"mode": "plan", "allow_all": "off"}, ASKING) == {}
    assert unasked(Choices(), {"mode": "bypass"}, ASKING) == {"mode": "bypass"}
    words = not_permitted("mode", "Bypass", "read_only")
    assert "'Bypass'" in words
    assert "'read_only'" in words


def test_a_change_of_the_mode_counts_in_both_ways_in_which_an_agent_offers_it() -> None:
    option = select("mode", "mode", SWITCH, "off")
    changed = replace(modes("off", "on", "off"), options=(option, select())).with_mode("on")
    assert chosen(changed, "mode") == "on"
    assert chosen(Choices(modes=changed.modes), "mode") == "on"
    assert chosen(changed, "model") == "small"
    assert chosen(Choices((option,)).with_mode("on"), "mode") == "on"
    assert Choices((select(),)).with_mode("on") == Choices((select(),))


EFFORTS = (SessionConfigSelectItem("Low", "low"), SessionConfigSelectItem("High", "high", "Slow"))
WHOLE = Choices(
    (
        select(),
        select("level", "thought_level", EFFORTS, "low"),
        SessionConfigBoolean("web", "Web search", False),
        select("permissions", None, EFFORTS, "high"),
        select("mode", "model_config", EFFORTS, "low"),
    ),
    MODES,
)


def test_what_can_be_chosen_has_the_keys_of_a_configuration_schema() -> None:
    found = properties(WHOLE)
    assert list(found) == ["model", "mode", EFFORT, "web", "agent.permissions", "agent.mode"]
    effort = found[EFFORT]
    assert (effort.title, effort.enum, effort.default) == ("Model", ("low", "high"), "low")
    assert effort.enum_item_labels == ("Low", "High")
    assert effort.enum_descriptions == ("", "Slow")
    assert found["web"].enum == ("true", "false")
    assert found["web"].default == "false"
    assert found["mode"].enum_item_labels == ("Ask", "Code")
    assert properties(Choices()) == {}
    assert properties(Choices((select(items=()),))) == {}


def test_the_two_choices_of_the_most_use_are_beside_the_model() -> None:
    def places(
        *options: SessionConfigSelect, modes: SessionModeState | None = None
    ) -> dict[str, object]:
        found = properties(Choices(options, modes)).items()
        return {key: one.group for key, one in found if one.group is not UNSET}

    effort = select("level", "thought_level", EFFORTS, "low")
    assert places(select(), effort, modes=MODES) == {EFFORT: "navigation", "model": "tokens"}
    assert places(effort, modes=MODES) == {EFFORT: "navigation", "mode": "tokens"}
    assert places(select(), modes=MODES) == {"model": "navigation", "mode": "tokens"}
    assert places(modes=MODES) == {"mode": "navigation"}
    assert places(select(items=FLAT[:1]), modes=MODES) == {"mode": "navigation"}


@pytest.mark.parametrize(
    ("key", "value", "request_"),
    [
        ("model", "big", SetSessionConfigOptionRequest("s", "model", "big")),
        ("mode", "code", SetSessionModeRequest("s", "code")),
        (EFFORT, "high", SetSessionConfigOptionRequest("s", "level", "high")),
        ("web", "true", SetSessionConfigOptionRequest("s", "web", True, "boolean")),
        ("agent.permissions", "low", SetSessionConfigOptionRequest("s", "permissions", "low")),
        ("agent.mode", "high", SetSessionConfigOptionRequest("s", "mode", "high")),
    ],
)
def test_each_key_has_its_request(key: str, value: str, request_: Change) -> None:
    assert change(WHOLE, key, value) == request_
    assert change(WHOLE.after(request_), key, value) is None


def test_a_choice_is_due_once_and_the_model_comes_first() -> None:
    picked = Picked()
    given = {"web": "true", "mode": "code", "model": "big"}
    assert due(picked, WHOLE, given) == [("model", "big"), ("mode", "code"), ("web", "true")]
    assert due(picked, WHOLE, given) == []
    assert due(picked, WHOLE, {**given, "mode": "ask"}) == [("mode", "ask")]


def due(picked: Picked, choices: Choices, given: dict[str, str]) -> list[tuple[str, str]]:
    """Return the choices that are due, and make them all."""
    found = picked.due(choices, given)
    for key, _ in found:
        picked.settle(key, is_made=True)
    return found


def test_a_choice_that_is_not_settled_stays_due() -> None:
    picked = Picked()
    given = {"model": "big", "mode": "code"}
    picked.due(WHOLE, given)
    picked.settle("model", is_made=False)
    assert picked.due(WHOLE, given) == [("mode", "code")]
    assert due(picked, WHOLE, given) == [("mode", "code")]
    assert picked.due(WHOLE, given) == []
    assert picked.due(WHOLE, {}) == [("model", "small"), ("mode", "ask")]
    assert picked.due(WHOLE, {}) == [("model", "small"), ("mode", "ask")], "nor was this settled"


def test_a_change_without_an_answer_is_sent_again_even_where_it_leads_back() -> None:
    """Nobody knows whether the agent has made it."""
    picked = Picked()
    picked.due(WHOLE, {"model": "big"})
    assert picked.change(WHOLE, "s", "model", "small") is None
    request_ = picked.change(WHOLE, "s", "model", "big")
    assert request_ == SetSessionConfigOptionRequest("s", "model", "big")
    assert picked.due(WHOLE, {"model": "small"}) == [("model", "small")]
    request_ = picked.change(WHOLE, "s", "model", "small")
    assert request_ == SetSessionConfigOptionRequest("s", "model", "small")
    picked.settle("model", is_made=True)
    assert picked.change(WHOLE, "s", "model", "small") is None
    assert isinstance(picked.change(WHOLE, "s", "model", "gone"), Failure)


def test_a_choice_that_another_has_undone_is_named() -> None:
    picked = Picked()
    given = {"model": "big", "web": "true", "mode": "code"}
    picked.due(WHOLE, given)
    picked.settle("model", is_made=True)
    picked.settle("web", is_made=True)
    picked.settle("mode", is_made=False)
    assert picked.undone(WHOLE) == [("model", "big"), ("web", "true")]
    picked.settle("web", is_made=False)
    assert picked.undone(WHOLE) == [("model", "big")]
    assert picked.undone(WHOLE.after(SetSessionConfigOptionRequest("s", "model", "big"))) == []
    words = undone_by_another(WHOLE, "model", "big")
    assert words == "The agent changed its model from 'big' to 'small' because of another choice."
    assert undone_by_another(WHOLE, "model", "gone") == not_offered_now(WHOLE, "model", "gone")


def test_a_key_that_is_given_no_more_gets_its_first_value_back() -> None:
    picked = Picked()
    due(picked, WHOLE, {"model": "big"})
    due(picked, WHOLE.after(SetSessionConfigOptionRequest("s", "model", "big")), {"model": "huge"})
    assert properties(WHOLE, picked.before)["model"].default == "small"
    assert due(picked, WHOLE, {}) == [("model", "small")]
    assert picked.due(WHOLE, {}) == []
    assert picked.before == {}


def test_a_key_that_the_settings_have_gets_no_first_value_back() -> None:
    picked = Picked()
    due(picked, WHOLE, {"model": "big", "mode": "code"})
    assert picked.due(WHOLE, {}, preset=["model"]) == [("mode", "ask")]
    assert picked.before == {"mode": "ask"}


def test_no_choice_that_is_taken_back_leads_to_a_value_without_questions() -> None:
    free, strict = Picked(), Picked()
    free.due(modes("auto", *ALL_MODES), {"mode": "plan"})
    assert free.due(modes("plan", *ALL_MODES), {}, ASKING) == [("mode", "default")]
    strict.due(modes("auto", *ALL_MODES), {"mode": "plan"}, ASKING)
    assert strict.before == {"mode": "default"}


def test_no_default_is_a_value_without_questions_while_there_is_another() -> None:
    found = properties(modes("plan", *ALL_MODES), {"mode": "bypass"}, ASKING)
    assert found["mode"].default == "default"
    assert properties(modes("auto", *ALL_MODES), {}, ASKING)["mode"].default == "default"
    assert properties(modes("auto", "auto", "plan"), {}, ASKING)["mode"].default == "auto"


def test_a_default_that_is_offered_no_more_is_none() -> None:
    assert properties(WHOLE, {"model": "gone", "other": "x"})["model"].default == "small"


def test_a_value_that_isn_t_offered_any_more_is_told_with_the_present_one() -> None:
    assert "'huge'" in not_offered_now(WHOLE, "model", "huge")
    assert "'small'" in not_offered_now(WHOLE, "model", "huge")
    assert "stays" not in not_offered_now(Choices(), "model", "huge")
