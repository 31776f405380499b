"""How many strings of tools' schemas are priced exactly: editors ask for each of them.

The schemas are those of models in installed packages, and of the forty tools of another test. The
estimator was fitted to none of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, cast

import mcp_types
import openai.types.responses
import pytest
from acp import schema
from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from bridge.tokens.message import estimate_text
from tests.real.forty_tools import forty
from tooling import exact_tokens

from .test_accuracy import PAGE, TOLERANCE

LEAST_TOLD, LEAST_DISTINCT = 0.98, 0.93
TOLD = re.compile(r"(?P<told>[\d.]+) % of the strings[^.]*?(?P<distinct>[\d.]+) % of the distinct")


def strings(value: Any) -> Iterator[str]:
    """Yield each string that an editor asks for: keys and words of a schema."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from strings(one)
    elif isinstance(value, dict):
        for key, one in cast("dict[str, Any]", value).items():
            if one:
                yield key
                yield from strings(one)


def schemas() -> Iterator[Any]:
    """Yield the schemas of tools, and of what could be a tool's parameters."""
    yield from forty()
    for module in (mcp_types, openai.types.responses, schema):
        for model in vars(module).values():
            if isinstance(model, type) and issubclass(model, BaseModel):
                try:
                    yield TypeAdapter(model).json_schema()
                except PydanticInvalidForJsonSchema:
                    continue


def shares(told: Iterable[str]) -> tuple[float, float]:
    """Return the share that is exact: of the strings that are told, and of the distinct ones."""
    counts = Counter(filter(None, told))
    exact = [one for one in counts if estimate_text(one) == exact_tokens.count(one)]
    return sum(counts[one] for one in exact) / counts.total(), len(exact) / len(counts)


@pytest.fixture(scope="module")
def measured() -> tuple[float, float]:
    found = [one for value in schemas() for one in strings(value)]
    assert len(set(found)) > 2_000
    return shares(found)


def test_nearly_all_strings_of_schemas_are_exact(measured: tuple[float, float]) -> None:
    told, distinct = measured
    assert told >= LEAST_TOLD
    assert distinct >= LEAST_DISTINCT


def test_the_page_tells_how_many_strings_are_exact(measured: tuple[float, float]) -> None:
    row = TOLD.search(PAGE.read_text("utf-8").replace("\n", " "))
    assert row is not None
    assert [float(row["told"]) / 100, float(row["distinct"]) / 100] == pytest.approx(
        list(measured), abs=TOLERANCE
    )
