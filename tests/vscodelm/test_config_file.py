from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from bridge.models import Catalogue, ConfigError, parse_catalogue
from bridge.wire import McpServerSpec
from vscodelm.config_file import add_model, load_catalogue, with_editor_endpoints
from vscodelm.places import config_path
from vscodelm.registry.entry import model_entry

OLD = '# mine\n[[models]]\nid = "a"\nagent = { eliza = {} }\n'
ENTRY = model_entry("b", "B", McpServerSpec("b", "b-acp"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a file that isn't there, in a folder that isn't there."""
    return tmp_path / "new" / "config.toml"


def ids(file: Path) -> list[str]:
    return [model.information.id for model in load_catalogue(file).models]


def test_the_option_counts_then_the_environment_then_the_users_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VSCODELM_CONFIG", "named.toml")
    assert config_path(Path("given.toml")) == Path("given.toml")
    assert config_path(None) == Path("named.toml")
    monkeypatch.delenv("VSCODELM_CONFIG")
    assert config_path(None).name == "config.toml"


def test_a_file_that_is_named_must_be_there(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml"):
        load_catalogue(file)
    monkeypatch.setenv("VSCODELM_CONFIG", str(file))
    with pytest.raises(ConfigError):
        load_catalogue(None)


def test_a_model_is_added_to_a_file_that_is_made(file: Path) -> None:
    add_model(file, ENTRY)
    assert file.read_text() == ENTRY
    assert ids(file) == ["eliza", "b"]


def test_a_model_is_added_after_what_is_there(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(OLD)
    add_model(file, ENTRY)
    assert file.read_text() == f"{OLD}\n{ENTRY}"
    assert ids(file) == ["eliza", "a", "b"]
    assert os.listdir(file.parent) == ["config.toml"]


@pytest.mark.parametrize(
    "old",
    [
        ENTRY,
        'models = [{ id = "a", agent = { eliza = {} } }]\n',
        "[[models]]\n",
        "not toml",
    ],
    ids=["the id is taken", "a list in another form", "wrong before", "no file of ours"],
)
def test_a_file_that_would_be_wrong_stays_as_it_is(file: Path, old: str) -> None:
    file.parent.mkdir()
    file.write_text(old)
    with pytest.raises(ConfigError, match=r"config\.toml"):
        add_model(file, ENTRY)
    assert file.read_text() == old
    assert os.listdir(file.parent) == ["config.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such links and modes")
def test_a_link_stays_a_link_and_a_mode_a_mode(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text(OLD)
    target.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(target)
    add_model(link, ENTRY)
    assert link.is_symlink()
    assert target.read_text().endswith(ENTRY)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError):
        add_model(tmp_path / "file" / "config.toml", ENTRY)


def test_what_was_added_is_what_was_meant() -> None:
    found = parse_catalogue(ENTRY).find("b")
    assert found is not None
    assert found.agent.spec.acp == McpServerSpec("b", "b-acp")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("models.toml", '[[models]]\nid = "one"\nagent = { registry = "opencode" }'),
        ("models.json", '{"models": [{"id": "one", "agent": {"registry": "opencode"}}]}'),
    ],
)
def test_a_file_may_name_a_ready_agent(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = load_catalogue(path).find("one")
    assert found is not None
    assert getattr(found.agent.spec.definition, "name", None) == "OpenCode"
    path.write_text(text.replace("opencode", "nobody"))
    with pytest.raises(ConfigError, match=r"'nobody'.*`\$.registry` - in `\$.models\[0\].agent`"):
        load_catalogue(path)


def test_a_ready_agent_can_stand_in_a_file_to_which_one_is_added(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[[models]]\nid = "one"\nagent = { registry = "opencode" }\n')
    add_model(path, ENTRY)
    assert [one.information.id for one in load_catalogue(path).models] == ["eliza", "one", "b"]


def test_a_file_may_be_json_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text('{"models": [{"id": "one", "agent": {"eliza": {}}}]}')
    assert load_catalogue(path).find("one")
    path.write_text("[[models]]")
    with pytest.raises(ConfigError, match=r"models\.json"):
        load_catalogue(path)


def test_endpoints_come_from_the_editor_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VSCODELM_ENDPOINTS", raising=False)
    assert with_editor_endpoints(Catalogue()) == (Catalogue(), [])
    endpoint = '{"open_responses": {"baseUrl": "http://127.0.0.1:1/v1"}}'
    monkeypatch.setenv("VSCODELM_ENDPOINTS", f'{{"local": {endpoint}, "bad": {{}}}}')
    catalogue, faults = with_editor_endpoints(Catalogue())
    assert [listing.id for listing in catalogue.listings] == ["local"]
    assert len(faults) == 1
