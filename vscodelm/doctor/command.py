"""`vscodelm doctor` in this process: from the name to the exit status."""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import msgspec
import trio

from actors.trace import Trace, open_trace
from agents.base import Agent
from agents.eliza.agent import ElizaAgent
from bridge.known_secrets import KnownSecrets
from bridge.models import Catalogue
from bridge.value import Value
from bridge.wire import ElizaSpec, McpServerSpec, OpenResponsesSpec
from vscodelm.config_file import load_catalogue
from vscodelm.log_setup import set_up_logging
from vscodelm.registry.cache import CacheError
from vscodelm.registry.local import Registry, RegistryError
from vscodelm.signals import Signals

from .examination import Examination
from .findings import ExaminationStep, Finding, Report
from .turn import one_turn, prompt_of
from .view import ExaminationView

_LAUNCHERS = frozenset({"npx", "uvx", "bunx", "node", "python", "python3"})


class SubjectError(Exception):
    """No agent has that name; the message lists the names."""


class Subject(Value):
    """The agent to examine; `missing` is the advice if its command isn't there.

    `mode` is the mode that its settings choose.
    """

    name: str
    agent: McpServerSpec | ElizaSpec | OpenResponsesSpec
    missing: str = ""
    mode: str | None = None


def subject_of(name: str, catalogue: Catalogue, registry: Registry) -> Subject:
    """Return who has a name; raises `SubjectError`. Nothing is fetched."""
    model = catalogue.find(name)
    if model is not None:
        return Subject(name, model.agent.spec.definition, mode=model.settings.mode)
    try:
        agent = registry.find(name)
        launched = registry.launch(agent)
    except (RegistryError, CacheError) as error:
        raise SubjectError(f"{_no_model(name, catalogue)} {error}") from None
    missing = ""
    if launched.kind == "binary":
        missing = f"It isn't installed. Run `vscodelm agents install {agent.id}`."
    return Subject(name, launched.spec, missing)


def subject_of_command(command: tuple[str, ...]) -> Subject:
    """Return the agent that a command starts."""
    program, *arguments = command
    name = _called(command)
    return Subject(name, McpServerSpec(name, program, tuple(arguments)))


def _called(command: tuple[str, ...]) -> str:
    """Return what to call an agent that a command starts: not by its launcher, if it has one."""
    program, *arguments = map(os.path.basename, command)
    words = [word for word in arguments if not word.startswith("-")]
    return words[0] if words and program in _LAUNCHERS else program


def _no_model(name: str, catalogue: Catalogue) -> str:
    ids = [model.information.id for model in catalogue.models]
    near = difflib.get_close_matches(name, ids, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no model {name!r} in the configuration.{hint}"


@attrs.frozen
class DoctorOptions:
    """The options of the command line; either `agent` or `command` is there."""

    agent: str | None
    command: tuple[str, ...]
    seconds: float
    prompt: str | None = None
    as_json: bool = False
    config: Path | None = None
    cache_dir: Path | None = None
    log_level: str = "warning"
    trace_dir: Path | None = None


def doctor_here(options: DoctorOptions) -> int:
    """Examine an agent; return the exit status: 0 if it can be used, 1 if not, 128 + n after a
    signal. Raises `SubjectError`, `ConfigError` and `OSError`.
    """  # noqa: D205  one sentence
    if options.agent is None:
        subject = subject_of_command(options.command)
    else:
        catalogue = load_catalogue(options.config)
        subject = subject_of(options.agent, catalogue, Registry.of(options.cache_dir, None))
    secrets = KnownSecrets()
    secrets.learn_kept(os.environ)
    secrets.learn(msgspec.to_builtins(subject.agent), os.environ)
    set_up_logging(options.log_level, secrets.hide_all)
    trace = (
        open_trace(options.trace_dir, f"doctor-{os.getpid()}", secrets.hide)
        if options.trace_dir
        else Trace()
    )
    try:
        return trio.run(_run, subject, options, trace, secrets)
    finally:
        trace.close()


async def _run(
    subject: Subject, options: DoctorOptions, trace: Trace, secrets: KnownSecrets
) -> int:
    view = None if options.as_json else ExaminationView.of_process()
    findings: list[Finding] = []

    def begin(step: ExaminationStep) -> None:
        if view is not None:
            view.begin(step)

    def tell(found: Finding) -> None:
        finding = found.without_secrets(secrets.hide_all)
        findings.append(finding)
        if view is not None:
            view.tell(finding)

    async with trio.open_nursery() as nursery:
        signals = Signals(nursery.cancel_scope)
        await nursery.start(signals.watch)
        await _examine(subject, options, trace, begin, tell, nursery)
        nursery.cancel_scope.cancel()
    report = Report(subject.name, tuple(findings))
    if view is None:
        sys.stdout.write(json.dumps(report.as_json(), indent=2) + "\n")
    elif signals.status:
        view.close()
    else:
        view.conclude(report)
    return signals.status or (0 if report.is_usable else 1)


async def _examine(
    subject: Subject,
    options: DoctorOptions,
    trace: Trace,
    begin: Callable[[ExaminationStep], None],
    tell: Callable[[Finding], None],
    nursery: trio.Nursery,
) -> None:
    match subject.agent:
        case McpServerSpec() as spec:
            examination = Examination(
                spec,
                begin,
                tell,
                options.seconds,
                options.prompt,
                subject.missing,
                trace,
                subject.mode,
            )
            await examination.run()
        case ElizaSpec() as eliza:
            tell(Finding("agent", "ok", "Eliza runs in this process; no program is started"))
            agent = ElizaAgent(eliza, new_call_id=lambda: "doctor")
            await _prompt(agent, options, begin, tell)
        case OpenResponsesSpec(base_url=url) as endpoint:
            summary = f"{url} is an Open Responses endpoint; no program is started"
            advice = "" if options.prompt else "--prompt sends it a message."
            tell(Finding("agent", "ok", summary, advice=advice))
            # here, because an HTTP client is slow to load
            from agents.open_responses.agent import OpenResponsesAgent

            asked = OpenResponsesAgent(endpoint, nursery, tap_for=trace.tap)
            await _prompt(asked, options, begin, tell)
            await asked.aclose()


async def _prompt(
    agent: Agent,
    options: DoctorOptions,
    begin: Callable[[ExaminationStep], None],
    tell: Callable[[Finding], None],
) -> None:
    if options.prompt is None:
        return
    begin("prompt")
    async with agent.session(prompt_of(options.prompt)) as session:
        tell(await one_turn(session, options.prompt, options.seconds))
