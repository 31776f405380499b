"""The models that can be picked: Eliza, and what a configuration file and endpoints add.

The file is TOML, its keys are those of the wire:

    [[models]]
    id = "claude"
    name = "Claude Code"
    agent = { acp = { name = "claude", command = "claude-agent-acp" } }
    settings = { permissions = "ask" }

    [[endpoints]]
    id = "local"
    open_responses = { baseUrl = "http://127.0.0.1:8080/v1" }

Every model that an endpoint lists can be picked, as `local/NAME`. The list may come later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from bridge.history.message import canonical_json

from .depth import TOO_DEEP, is_too_deep
from .value import Value
from .wire import (
    AgentSpec,
    ConfigurationProperty,
    ConfigurationSchema,
    ElizaSpec,
    McpServerSpec,
    ModelCapabilities,
    ModelInformation,
    Permissions,
    Settings,
    ShownModel,
    passes,
)

ELIZA_ID = "eliza"
DEFAULT_INPUT_TOKENS = 1_000_000
"""Large, because an agent manages its own context, and hosts summarise when this is near."""
DEFAULT_OUTPUT_TOKENS = 64_000
OUTPUT_IN_WINDOW = 8_192
"""The output that VS Code takes off the context of any model of an extension, whatever we say."""


class ConfigError(Exception):
    """The configuration file is wrong; the message says where."""


class _Model(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    id: str
    agent: dict[str, Any]
    name: str = ""
    family: str = ""
    version: str = "1"
    settings: Settings = Settings()
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    tooltip: str | None = None
    detail: str | None = None
    tool_calling: bool = True
    image_input: bool = False


class _Endpoint(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    id: str
    open_responses: dict[str, Any] = msgspec.field(name="open_responses")
    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    settings: Settings = Settings()
    max_input_tokens: int = DEFAULT_INPUT_TOKENS
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    tool_calling: bool = True
    image_input: bool = False


class _File(msgspec.Struct, forbid_unknown_fields=True):
    models: list[_Model] = []
    endpoints: list[_Endpoint] = []


class AgentChoice(Value):
    """An agent definition, with its identity: canonical JSON in which `acp` is `mcp_server`."""

    spec: AgentSpec
    key: bytes

    @classmethod
    def of(cls, definition: dict[str, Any]) -> AgentChoice:
        """Return the choice; raises `msgspec.ValidationError` where it is no agent."""
        try:
            spec = msgspec.convert(definition, AgentSpec)
            known = {
                "mcp_server" if kind == "acp" else kind: value
                for kind, value in definition.items()
                if kind in AgentSpec.__struct_fields__
            }
            key = canonical_json(known)
        except RecursionError:
            raise msgspec.ValidationError(TOO_DEEP) from None
        except UnicodeEncodeError:
            raise msgspec.ValidationError("a text in it holds an incomplete character") from None
        if is_too_deep(key):
            raise msgspec.ValidationError(TOO_DEEP)
        return cls(spec, key)


class Model(Value):
    """A model and its agent; `listed_by` is the listing that it comes from.

    `has_limit` if the configuration says how many tokens of input it takes, and `has_output_limit`
    if it says how many of output.
    """

    information: ModelInformation
    agent: AgentChoice
    settings: Settings = msgspec.field(default_factory=Settings)
    listed_by: str | None = None
    has_limit: bool = False
    has_output_limit: bool = False


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


class ListedModel(Value):
    """A model as an endpoint lists it; None is what the endpoint doesn't say."""

    id: str
    name: str | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    tool_calling: bool | None = None
    image_input: bool | None = None


class Listing(Value):
    """An endpoint whose models are asked for; `include` and `exclude` are globs of their names."""

    id: str
    definition: dict[str, Any]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    settings: Settings
    default: ListedModel
    """Values where the endpoint gives none."""

    def agent(self, name: str) -> AgentChoice:
        """Return who answers for a model of the endpoint's."""
        return AgentChoice.of({"open_responses": {**self.definition, "model": name}})

    def models(self, listed: Sequence[ListedModel]) -> tuple[Model, ...]:
        """Return those that can be picked."""
        return tuple(
            Model(self._information(one), self.agent(one.id), self.settings, self.id)
            for one in listed
            if passes(one.id, self.include, self.exclude)
        )

    def _information(self, one: ListedModel) -> ModelInformation:
        def known(field: str) -> Any:
            value = getattr(one, field)
            return getattr(self.default, field) if value is None else value

        return ModelInformation(
            id=f"{self.id}/{one.id}",
            name=one.name or one.id,
            family=one.id,
            version="1",
            max_input_tokens=known("max_input_tokens"),
            max_output_tokens=known("max_output_tokens"),
            detail=self.id,
            capabilities=ModelCapabilities(known("tool_calling"), known("image_input")),
        )


class Catalogue(Value):
    """Every model, Eliza first unless the file defines that id itself; where to ask for more."""

    models: tuple[Model, ...] = (ELIZA,)
    listings: tuple[Listing, ...] = ()

    def with_listed(self, listing: Listing, listed: Sequence[ListedModel]) -> Catalogue:
        """Return a catalogue with an endpoint's models in the place of those that it had before.

        A model that the file names itself stays as it is.
        """
        others = [model for model in self.models if model.listed_by != listing.id]
        taken = {model.information.id for model in others}
        new = [model for model in listing.models(listed) if model.information.id not in taken]
        return Catalogue((*others, *new), self.listings)

    def find(self, model_id: str) -> Model | None:
        """Return the model of that id."""
        return next((m for m in self.models if m.information.id == model_id), None)


Complete: TypeAlias = Callable[[dict[str, Any], str], dict[str, Any]]
"""Returns an agent's definition with all that may be left out, for a model of that id."""


def as_given(definition: dict[str, Any], _model_id: str) -> dict[str, Any]:
    """Return a definition that is complete."""
    return definition


def parse_catalogue(toml: str, complete: Complete = as_given) -> Catalogue:
    """Return the models of a configuration file; raises `ConfigError`."""
    try:
        return _catalogue(msgspec.toml.decode(toml, type=_File), complete)
    except RecursionError:
        raise ConfigError(f"line {_deepest(toml)}: it is nested too deeply") from None
    except (msgspec.DecodeError, ValueError) as error:  # such as a number of too many digits
        raise ConfigError(str(error)) from None


def parse_json_catalogue(text: str, complete: Complete = as_given) -> Catalogue:
    """Return the models of a file in JSON, with the same keys; raises `ConfigError`."""
    try:
        return _catalogue(msgspec.json.decode(text, type=_File), complete)
    except RecursionError:
        raise ConfigError(TOO_DEEP) from None
    except (msgspec.DecodeError, ValueError) as error:
        raise ConfigError(str(error)) from None


def with_endpoints(catalogue: Catalogue, text: str) -> tuple[Catalogue, list[str]]:
    """Return a catalogue with the endpoints of a host's settings, and the faults among them.

    `text` is a JSON object of endpoints by their ids, with the keys of `[[endpoints]]`. An endpoint
    replaces one of the same id. A wrong one costs only itself.
    """
    try:
        given = msgspec.json.decode(text, type=dict[str, dict[str, Any] | None])
    except (RecursionError, msgspec.DecodeError, ValueError) as error:
        return catalogue, [f"the endpoints aren't an object of endpoints by their ids: {error}"]
    listings = {listing.id: listing for listing in catalogue.listings}
    faults: list[str] = []
    for endpoint_id, endpoint in given.items():
        if endpoint is None:
            listings.pop(endpoint_id, None)
            continue
        try:
            read = msgspec.convert({**endpoint, "id": endpoint_id}, _Endpoint)
            listings[endpoint_id] = _listing(read, None)
        except (RecursionError, ConfigError, ValueError) as error:
            faults.append(f"the endpoint {endpoint_id!r}: {error}")
    return Catalogue(catalogue.models, tuple(listings.values())), faults


def _deepest(toml: str) -> int:
    """Return the number of the line on which the most brackets are open, the first of these."""
    depth, most, found = 0, 0, 1
    for number, line in enumerate(toml.splitlines(), 1):
        depth += line.count("[") + line.count("{")  # in a string as well: it is a hint
        if depth > most:
            most, found = depth, number
        depth -= line.count("]") + line.count("}")
    return found


def _catalogue(file: _File, complete: Complete) -> Catalogue:
    models: dict[str, Model] = {ELIZA_ID: ELIZA}
    given: set[str] = set()
    for index, model in enumerate(file.models):
        if model.id in given:
            raise ConfigError(f"the id {model.id!r} is given twice - at `$.models[{index}].id`")
        given.add(model.id)
        try:
            agent = AgentChoice.of(complete(model.agent, model.id))
        except msgspec.ValidationError as error:
            raise ConfigError(f"{error} - in `$.models[{index}].agent`") from None
        models[model.id] = _model(
            model.id, agent, model.settings, model, model.id, image_input=model.image_input
        )
    listings = [_listing(endpoint, index) for index, endpoint in enumerate(file.endpoints)]
    ids = [listing.id for listing in listings]
    for index, given_id in enumerate(ids):
        if given_id in ids[:index]:
            raise ConfigError(f"the id {given_id!r} is given twice - at `$.endpoints[{index}].id`")
    return Catalogue(tuple(models.values()), tuple(listings))


def _listing(endpoint: _Endpoint, index: int | None) -> Listing:
    listing = Listing(
        endpoint.id,
        endpoint.open_responses,
        endpoint.include,
        endpoint.exclude,
        endpoint.settings,
        ListedModel(
            "*",
            None,
            endpoint.max_input_tokens,
            endpoint.max_output_tokens,
            endpoint.tool_calling,
            endpoint.image_input,
        ),
    )
    try:
        listing.agent("*")
    except msgspec.ValidationError as error:
        place = "" if index is None else f" - in `$.endpoints[{index}]`"
        raise ConfigError(f"{error}{place}") from None
    return listing


def _model(
    model_id: str,
    agent: AgentChoice,
    settings: Settings,
    shown: _Model | ShownModel,
    name: str,
    *,
    image_input: bool,
) -> Model:
    """Return a model; `name` is its own if nobody names it."""
    limit, output_limit = shown.max_input_tokens, shown.max_output_tokens
    information = ModelInformation(
        id=model_id,
        name=shown.name or name,
        family=shown.family or model_id,
        version=shown.version,
        max_input_tokens=DEFAULT_INPUT_TOKENS if limit is None else limit,
        max_output_tokens=DEFAULT_OUTPUT_TOKENS if output_limit is None else output_limit,
        tooltip=msgspec.UNSET if shown.tooltip is None else shown.tooltip,
        detail=msgspec.UNSET if shown.detail is None else shown.detail,
        capabilities=ModelCapabilities(shown.tool_calling, image_input),
    )
    return Model(
        information,
        agent,
        settings,
        has_limit=limit is not None,
        has_output_limit=output_limit is not None,
    )


# The choices in the host's picker.

PERMISSIONS = "permissions"
"""The key of the choice that is ours: how an agent's permission requests are answered."""
_PERMISSION_TEXTS: dict[Permissions, tuple[str, str]] = {
    "ask": ("Ask", "You are asked before the agent acts."),
    "read_only": ("Read only", "The agent may read and search. Everything else is denied."),
    "allow": ("Allow all", "The agent may do everything without asking."),
    "deny": ("Deny all", "Every permission request is denied."),
}


def client_model(model_id: str, agent: AgentChoice, settings: Settings, shown: ShownModel) -> Model:
    """Return a model that the client defines itself."""
    definition = agent.spec.definition
    is_eliza = isinstance(definition, ElizaSpec)
    if is_eliza:
        name = ELIZA.information.name
    else:
        name = definition.name if isinstance(definition, McpServerSpec) else model_id
    takes_images = not is_eliza if shown.image_input is None else shown.image_input
    return _model(model_id, agent, settings, shown, name, image_input=takes_images)


def with_choices(
    model: Model, offered: Mapping[str, ConfigurationProperty], window: int | None
) -> ModelInformation:
    """Return a model with all that a user can choose: the agent's choices, and the permissions.

    Only ACP agents ask for permissions and offer choices. `window` is the size of the agent's own
    context. The model's limits come from it where the configuration gives none for the input,
    because hosts show how full the context is by them.
    """
    settings, information = model.settings, model.information
    if not isinstance(model.agent.spec.definition, McpServerSpec):
        return information
    preset = {"model": settings.model, "mode": settings.mode}
    properties = {key: _preset(one, preset.get(key)) for key, one in offered.items()}
    properties[PERMISSIONS] = _permissions(settings)
    information = replace(
        information, configuration_schema=ConfigurationSchema(properties=properties)
    )
    return (
        information if model.has_limit or not window else _with_window(model, information, window)
    )


def _with_window(model: Model, information: ModelInformation, window: int) -> ModelInformation:
    """Return a model whose limits of input and output are a context's size together.

    VS Code summarises at 85 % of the input's. An output that the configuration gives is kept, and
    costs the input no more than half of the context.
    """
    half = window // 2
    output = information.max_output_tokens if model.has_output_limit else OUTPUT_IN_WINDOW
    return replace(
        information,
        max_input_tokens=window - min(output, half),
        max_output_tokens=output if model.has_output_limit else min(output, half),
        max_context_window_tokens=window,
    )


def _preset(offered: ConfigurationProperty, value: str | None) -> ConfigurationProperty:
    """Return a property whose default is the value in the settings, an id or a name."""
    named = dict(zip(offered.enum_item_labels, offered.enum, strict=False))
    chosen = value if value in offered.enum else named.get(value or "")
    return offered if chosen is None else replace(offered, default=chosen)


def _permissions(settings: Settings) -> ConfigurationProperty:
    values = tuple(dict.fromkeys((*settings.permission_choices, settings.permissions)))
    labels, descriptions = zip(*(_PERMISSION_TEXTS[value] for value in values), strict=True)
    return ConfigurationProperty(
        title="Permissions",
        enum=values,
        enum_item_labels=labels,
        enum_descriptions=descriptions,
        default=settings.permissions,
    )


def configuration_of(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the choices of a request that are the agent's; a value that can't be one is left out.

    Hosts may send a switch as a boolean.
    """
    texts = {key: str(one).lower() if isinstance(one, bool) else one for key, one in given.items()}
    return {
        key: value for key, value in texts.items() if key != PERMISSIONS and isinstance(value, str)
    }


def with_permissions(settings: Settings, given: Mapping[str, Any]) -> tuple[Settings, str]:
    """Return the settings with the permissions that a request chooses, and what to say about it.

    A value that isn't one of the choices counts as "ask".
    """
    value = given.get(PERMISSIONS)
    if value is None or value == settings.permissions:
        return settings, ""
    if value in settings.permission_choices:
        return replace(settings, permissions=value), ""
    known = value if value in get_args(Permissions) else "this choice"
    words = f"The permissions {known!r} can't be chosen here, so you are asked."
    return replace(settings, permissions="ask"), words
