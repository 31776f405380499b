from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bridge.models import parse_catalogue
from bridge.wire import EnvVariable, McpServerSpec
from vscodelm.registry.entry import model_entry

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
SPECS = st.builds(
    McpServerSpec,
    TEXT,
    TEXT,
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(st.builds(EnvVariable, TEXT, TEXT), max_size=2).map(tuple),
    st.none() | TEXT,
)


def test_an_entry_reads_like_one_that_a_person_writes() -> None:
    spec = McpServerSpec(
        "parrot", "npx", ("-y", "@birds/parrot@1"), (EnvVariable("SEEDS", 'say "hi"'),)
    )
    assert model_entry("parrot", "Parrot", spec) == (
        "[[models]]\n"
        'id = "parrot"\n'
        'name = "Parrot"\n'
        "\n"
        "[models.agent.acp]\n"
        'name = "parrot"\n'
        'command = "npx"\n'
        'args = ["-y", "@birds/parrot@1"]\n'
        'env = [{ name = "SEEDS", value = "say \\"hi\\"" }]\n'
    )


@given(TEXT, TEXT, SPECS)
def test_an_entry_means_what_it_was_made_of(id_: str, name: str, spec: McpServerSpec) -> None:
    *_, model = parse_catalogue(model_entry(id_, name, spec)).models
    if id_ == "eliza":
        return
    assert model.information.id == id_
    assert model.information.name == (name or id_)
    assert model.agent.spec.acp == spec


@given(st.lists(st.tuples(TEXT, SPECS), max_size=3, unique_by=lambda pair: pair[0]))
def test_entries_can_stand_together(entries: list[tuple[str, McpServerSpec]]) -> None:
    whole = "\n".join(model_entry(id_, "x", spec) for id_, spec in entries)
    catalogue = parse_catalogue(whole)
    for id_, spec in entries:
        model = catalogue.find(id_)
        assert model is not None
        assert model.agent.spec.acp == spec
