"""The list of an endpoint's models reaches the editor when it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import trio

from agents.directory import open_directory
from agents.open_responses.http.client import EndpointClient, Resource
from agents.open_responses.models.cache import ModelCache
from agents.open_responses.models.refresh import keep_listing
from bridge.models import Catalogue, ListedModel, parse_catalogue
from tests.fakes.editor import connected_to, user
from tests.fakes.responses_server import Plan, responses_server
from tests.fakes.waiting import until

if TYPE_CHECKING:
    import pytest

TOML = """
[[endpoints]]
id = "local"
open_responses = {{ baseUrl = "{url}" }}
exclude = ["secret-*"]
"""
MODELS: list[dict[str, Any]] = [
    {"id": "small", "context_length": 1000},
    {"id": "secret-one"},
]


def names(catalogue: Catalogue) -> list[str]:
    return [model.information.id for model in catalogue.models]


async def test_models_of_an_endpoint_can_be_picked_once_they_are_known() -> None:
    async with responses_server(models=MODELS) as server, open_directory() as directory:
        catalogue = parse_catalogue(TOML.format(url=server.base_url))
        async with connected_to(
            directory.agent_for, catalogue=catalogue, list_models=keep_listing
        ) as editor:
            await editor.reaches(lambda: bool(editor.notified))
            assert editor.notified[0]["method"] == "lm/didChangeLanguageModelChatInformation"
            answer = await editor.call("lm/provideLanguageModelChatInformation", {"silent": True})
            assert [model["id"] for model in answer["models"]] == ["eliza", "local/small"]
            assert answer["models"][1]["maxInputTokens"] == 1000
            request = editor.chat([user("hello")], model="local/small", agent=None)
            assert (await request.settled()).text == "hello"
        assert server.bodies[0]["model"] == "small"


async def test_an_endpoint_that_does_not_answer_holds_up_nobody() -> None:
    async with responses_server() as server:
        server.plans.append(Plan())
        catalogue = parse_catalogue(TOML.format(url="http://127.0.0.1:1/v1"))
        async with (
            open_directory() as directory,
            connected_to(
                directory.agent_for, catalogue=catalogue, list_models=keep_listing
            ) as editor,
        ):
            answer = await editor.call("lm/provideLanguageModelChatInformation", {})
            assert [model["id"] for model in answer["models"]] == ["eliza"]


# What is on disk.


async def listed(
    url: str,
    folder: Path,
    is_done: Callable[[list[Catalogue]], bool],
    *,
    known: Catalogue | None = None,
) -> list[Catalogue]:
    """Keep the list until that is so; `known` is what there is before."""
    told: list[Catalogue] = []
    async with trio.open_nursery() as nursery:

        def take(catalogue: Catalogue) -> None:
            told.append(catalogue)

        async def keep() -> None:
            catalogue = known or parse_catalogue(TOML.format(url=url))
            await keep_listing(catalogue, take, cache=ModelCache(folder))

        nursery.start_soon(keep)
        await until(lambda: is_done(told))
        nursery.cancel_scope.cancel()
    return told


def is_kept(folder: Path) -> bool:
    return any(folder.glob("models-*.json"))


async def test_a_list_that_stays_the_same_is_no_news(tmp_path: Path) -> None:
    async with responses_server(models=MODELS) as server:
        catalogue = parse_catalogue(TOML.format(url=server.base_url))
        (listing,) = catalogue.listings
        known = catalogue.with_listed(listing, [ListedModel("small", None, 1000)])
        # it is kept after it was told
        told = await listed(server.base_url, tmp_path, lambda _: is_kept(tmp_path), known=known)
        assert [one.method for one in server.heard] == ["GET"]
        assert told == []
        assert names(known) == ["eliza", "local/small"]
        assert names(known.with_listed(listing, [ListedModel("big")])) == ["eliza", "local/big"]


async def test_what_was_listed_can_be_picked_while_the_endpoint_is_away(tmp_path: Path) -> None:
    async with responses_server(models=MODELS) as server:
        await listed(server.base_url, tmp_path, lambda _: is_kept(tmp_path))
        url = server.base_url
    told = await listed(url, tmp_path, lambda told: bool(told))
    assert [names(catalogue) for catalogue in told] == [["eliza", "local/small"]]


async def test_an_endpoint_is_asked_whether_it_has_others_and_only_these_are_told(
    tmp_path: Path,
) -> None:
    async with responses_server(models=MODELS, etag='"1"') as server:
        await listed(server.base_url, tmp_path, lambda _: is_kept(tmp_path))
        told = await listed(server.base_url, tmp_path, lambda _: len(server.heard) == 2)
        assert [names(catalogue) for catalogue in told] == [["eliza", "local/small"]]
        assert server.heard[1].headers["if-none-match"] == '"1"'
        server.models, server.etag = [{"id": "big"}], '"2"'
        told = await listed(server.base_url, tmp_path, lambda told: len(told) == 2)
        assert names(told[1]) == ["eliza", "local/big"]


# What nobody expected.

TWO = TOML + TOML.replace('"local"', '"other"').replace("{url}", "{other}")


async def test_an_error_at_one_endpoint_keeps_no_other_from_listing_and_it_is_asked_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    autojump_clock: object,
) -> None:
    asked: list[str] = []

    async def get(client: EndpointClient, name: str, etag: str | None = None) -> Resource:
        await trio.lowlevel.checkpoint()
        asked.append(client.server.split()[-1])
        if asked.count("odd.example") == 1 and asked[-1] == "odd.example":
            raise RuntimeError("odd")
        return Resource(msgspec.json.encode({"data": [{"id": client.server.split()[-1]}]}), None)

    def unreadable(*_: object) -> None:
        raise KeyError("odd")

    monkeypatch.setattr(EndpointClient, "get", get)
    monkeypatch.setattr(ModelCache, "load", unreadable)
    url = "http://odd.example/v1"
    catalogue = parse_catalogue(TWO.format(url=url, other="http://good.example/v1"))
    told: list[Catalogue] = []
    with trio.move_on_after(60):
        await keep_listing(catalogue, told.append, cache=ModelCache(None))
    assert sorted(asked) == ["good.example", "odd.example", "odd.example"]
    assert set(names(told[-1])) == {"eliza", "local/odd.example", "other/good.example"}
    assert len([record for record in caplog.records if record.exc_info]) == 3
