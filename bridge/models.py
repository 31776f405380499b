"""The models that can be picked: Eliza, and what a configuration file adds.

The file is TOML, its keys are those of the wire:

    [[models]]
    id = "claude"
    name = "Claude Code"
    agent = { acp = { name = "claude", command = "claude-agent-acp" } }
    settings = { permissions = "ask" }
"""

from __future__ import annotations

from typing import Any

import msgspec

from .message import canonical_json
from .value import Value
from .wire import AgentSpec, ElizaSpec, ModelCapabilities, ModelInformation, Settings

ELIZA_ID = "eliza"
DEFAULT_INPUT_TOKENS = 1_000_000
"""Large, because an agent manages its own context, and hosts summarise when this is near."""
DEFAULT_OUTPUT_TOKENS = 64_000


class ConfigError(Exception):
    """The configuration file is wrong; the message says where."""


class _Model(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    id: str
    agent: dict[str, Any]
    name: str = ""
    family: str = ""
    version: str = "1"
    settings: Settings = Settings()
    max_input_tokens: int = DEFAULT_INPUT_TOKENS
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    tooltip: str | None = None
    detail: str | None = None
    tool_calling: bool = True
    image_input: bool = False


class _File(msgspec.Struct, forbid_unknown_fields=True):
    models: list[_Model] = []


class AgentChoice(Value):
    """An agent definition, with its identity: canonical JSON in which `acp` is `mcp_server`."""

    spec: AgentSpec
    key: bytes

    @classmethod
    def of(cls, definition: dict[str, Any]) -> AgentChoice:
        """Return the choice; raises `msgspec.ValidationError` where it is no agent."""
        spec = msgspec.convert(definition, AgentSpec)
        known = {
            "mcp_server" if kind == "acp" else kind: value
            for kind, value in definition.items()
            if kind in AgentSpec.__struct_fields__
        }
        return cls(spec, canonical_json(known))


class Model(Value):
    """A model and who answers for it."""

    information: ModelInformation
    agent: AgentChoice
    settings: Settings = msgspec.field(default_factory=Settings)


ELIZA = Model(
    ModelInformation(
        id=ELIZA_ID,
        name="Eliza",
        family="eliza",
        version="1966",
        max_input_tokens=DEFAULT_INPUT_TOKENS,
        max_output_tokens=DEFAULT_OUTPUT_TOKENS,
        tooltip="The psychotherapist of 1966, in process: needs no account and no network",
        capabilities=ModelCapabilities(tool_calling=True, image_input=False),
    ),
    AgentChoice(AgentSpec(eliza=ElizaSpec()), canonical_json({"eliza": {}})),
)


class Catalogue(Value):
    """Every model, Eliza first unless the file defines that id itself."""

    models: tuple[Model, ...] = (ELIZA,)

    def find(self, model_id: str) -> Model | None:
        """Return the model of that id."""
        return next((m for m in self.models if m.information.id == model_id), None)


def parse_catalogue(toml: str) -> Catalogue:
    """Return the models of a configuration file; raises `ConfigError`."""
    try:
        file = msgspec.toml.decode(toml, type=_File)
    except msgspec.DecodeError as error:
        raise ConfigError(str(error)) from None
    models: dict[str, Model] = {ELIZA_ID: ELIZA}
    given: set[str] = set()
    for index, model in enumerate(file.models):
        if model.id in given:
            raise ConfigError(f"the id {model.id!r} is given twice - at `$.models[{index}].id`")
        given.add(model.id)
        try:
            agent = AgentChoice.of(model.agent)
        except msgspec.ValidationError as error:
            raise ConfigError(f"{error} - in `$.models[{index}].agent`") from None
        models[model.id] = Model(_information(model), agent, model.settings)
    return Catalogue(tuple(models.values()))


def _information(model: _Model) -> ModelInformation:
    return ModelInformation(
        id=model.id,
        name=model.name or model.id,
        family=model.family or model.id,
        version=model.version,
        max_input_tokens=model.max_input_tokens,
        max_output_tokens=model.max_output_tokens,
        tooltip=msgspec.UNSET if model.tooltip is None else model.tooltip,
        detail=msgspec.UNSET if model.detail is None else model.detail,
        capabilities=ModelCapabilities(model.tool_calling, model.image_input),
    )
