"""Do the tests notice what they are there for? Faults are planted, one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from .actors import faults as actors
from .agents.acp import faults as acp
from .agents.mcp import faults as mcp
from .agents.open_responses import faults as open_responses
from .bridge import faults as bridge
from .bridge.inspection import faults as inspection
from .continuity import faults as continuity
from .extension import agents_faults as extension_agents
from .extension import faults as extension
from .extension import first_answer_faults as first_answer
from .extension import forms_faults as forms
from .extension import inspection_faults as extension_inspection
from .planted import Fault, Ground
from .vscodelm import faults as programs

SUITES: dict[str, tuple[Ground, list[Fault]]] = {
    "bridge": (bridge.GROUND, bridge.FAULTS),
    "inspection": (inspection.GROUND, inspection.FAULTS),
    "actors": (actors.GROUND, actors.FAULTS),
    "acp": (acp.GROUND, acp.FAULTS),
    "mcp": (mcp.GROUND, mcp.FAULTS),
    "open_responses": (open_responses.GROUND, open_responses.FAULTS),
    "continuity": (continuity.GROUND, continuity.FAULTS),
    "vscodelm": (programs.GROUND, programs.FAULTS),
    "extension": (extension.GROUND, extension.FAULTS),
    "extension: agents": (extension_agents.GROUND, extension_agents.FAULTS),
    "extension: first answer": (first_answer.GROUND, first_answer.FAULTS),
    "extension: forms": (forms.GROUND, forms.FAULTS),
    "extension: inspection": (extension_inspection.GROUND, extension_inspection.FAULTS),
}

each_fault = pytest.mark.parametrize(
    ("ground", "fault"),
    [
        pytest.param(ground, fault, id=f"{suite}: {ground.file(fault).as_posix()}: {fault.name}")
        for suite, (ground, faults) in SUITES.items()
        for fault in faults
    ],
)


@each_fault
def test_a_fault_still_fits_the_source(ground: Ground, fault: Fault) -> None:
    ground.fits(fault)


@pytest.mark.faults
@pytest.mark.parametrize("suite", SUITES)
def test_without_a_fault_the_copy_passes(suite: str, tmp_path: Path) -> None:
    ground, faults = SUITES[suite]
    ground.passes_without(faults, tmp_path)


@pytest.mark.faults
@each_fault
def test_a_planted_fault_is_noticed(ground: Ground, fault: Fault, tmp_path: Path) -> None:
    ground.notices(fault, tmp_path)
