"""`vscodelm doctor` in this process: from the name to the exit status."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import msgspec
import trio

from actors.trace import Trace, open_trace
from agents.base import Agent
from agents.eliza import ElizaAgent
from bridge.known_secrets import KnownSecrets
from bridge.wire import ElizaSpec, McpServerSpec, OpenResponsesSpec
from vscodelm.config_file import load_catalogue
from vscodelm.log_setup import set_up_logging
from vscodelm.registry import Registry

from .examination import Examination
from .findings import Finding, Report, Step
from .subject import Subject, subject_of, subject_of_command
from .turn import one_turn, prompt_of
from .view import ExaminationView

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@attrs.frozen
class DoctorOptions:
    """What the command line says; either `agent` or `command` is there."""

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
    status = 0

    def begin(step: Step) -> None:
        if view is not None:
            view.begin(step)

    def tell(found: Finding) -> None:
        finding = found.without_secrets(secrets.hide_all)
        findings.append(finding)
        if view is not None:
            view.tell(finding)

    async def watch_signals(task_status: trio.TaskStatus[None]) -> None:
        nonlocal status
        with trio.open_signal_receiver(*SIGNALS) as received:
            task_status.started()
            async for number in received:
                status = 128 + number
                nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        await nursery.start(watch_signals)
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
                tell(Finding("agent", "ok", "Eliza is in this process; nothing is started"))
                agent = ElizaAgent(eliza, new_call_id=lambda: "doctor")
                await _prompt(agent, options, begin, tell)
            case OpenResponsesSpec(base_url=url) as endpoint:
                summary = f"{url} is an Open Responses endpoint; nothing is started"
                advice = "" if options.prompt else "With --prompt it is asked something."
                tell(Finding("agent", "ok", summary, advice=advice))
                # here, because an HTTP client is slow to load
                from agents.open_responses.agent import OpenResponsesAgent

                asked = OpenResponsesAgent(endpoint, nursery, tap_for=trace.tap)
                await _prompt(asked, options, begin, tell)
                await asked.aclose()
        nursery.cancel_scope.cancel()
    report = Report(subject.name, tuple(findings))
    if view is None:
        sys.stdout.write(json.dumps(report.as_json(), indent=2) + "\n")
    elif status:
        view.close()
    else:
        view.conclude(report)
    return status or (0 if report.is_usable else 1)


async def _prompt(
    agent: Agent,
    options: DoctorOptions,
    begin: Callable[[Step], None],
    tell: Callable[[Finding], None],
) -> None:
    if options.prompt is None:
        return
    begin("prompt")
    async with agent.session(prompt_of(options.prompt)) as session:
        tell(await one_turn(session, options.prompt, options.seconds))
