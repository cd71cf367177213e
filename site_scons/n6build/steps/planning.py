"""The plan of the chosen application, for SCons and the command line.

The plan is remembered until one of its inputs changes.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from n6build.base.environment import read_environment
from n6build.base.paths import ROOT, check_text
from n6build.base.processor import processor_class
from n6build.board.flash.receipt import VIRTUAL, settled
from n6build.describe.choices import Choices
from n6build.describe.targets import ON_A_BOARD, RECOVER
from n6build.engine.ledger import FOLDER
from n6build.engine.perform import Site
from n6build.engine.plan import Plan
from n6build.engine.remember import remembered_plan
from n6build.steps.code_behind import with_code

_PLANNER = "n6build.steps.pipeline"


def planned(choices: Choices, targets: Collection[str], site: Site, *, keep: bool = True) -> Plan:
    """Return the plan of the chosen application.

    Args:
        choices: Choices of the command line.
        targets: Requested targets. A board that they need is searched for now, before anything is built.
        site: Build folder with its records.
        keep: False if nothing may be written.

    Raises:
        N6Error: The error of each stage, if the choices cannot be built.
    """
    environment = read_environment()
    notes = site.build / FOLDER if keep else None
    goals = sorted({*targets} - {"plan"})
    programmer = _programmer(choices, goals) if {*ON_A_BOARD} & {*goals} else ""
    if RECOVER in goals and not programmer:
        # It needs no programmer. A probe only names its serial port.
        programmer = "console" if choices.console else choices.probe
    emulators = _emulators() if "run" in goals and programmer == VIRTUAL else ()
    machine = [_texts(asdict(environment)), processor_class(), str(ROOT), str(site.top)]
    key = [asdict(choices), goals, programmer, emulators, *machine]

    def make() -> Plan:
        with _nothing_collected():
            from n6build.steps.pipeline import application_plan

            plan = application_plan(choices, environment, goals, programmer, notes)
        for step in plan.steps:
            for path in (*step.outputs, *step.sources, *step.templates):
                check_text(path)
        return plan

    return with_code(settled(remembered_plan(key, site.build, site.code, _PLANNER, make, keep=keep)), site.code)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Turn off garbage collection while planning.

    Planning loads hundreds of modules and frees none. Searching them for cycles again and again takes a
    tenth of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _texts(value: Any) -> Any:
    """Return the value with paths as text."""
    if isinstance(value, dict):
        return {name: _texts(each) for name, each in value.items()}
    return (
        [_texts(each) for each in value] if isinstance(value, tuple | list) else value if value is None else str(value)
    )


def _emulators() -> tuple[str, str]:
    from n6build.board.virtual_board.build import emulators_here

    return emulators_here()


def _programmer(choices: Choices, goals: Collection[str]) -> str:
    """Return the name of the programmer in steps.

    Invalid combinations of goals are reported before a programmer is searched for.
    """
    if choices.probe == VIRTUAL:
        return VIRTUAL
    from n6build.board.flash.probes import choose_programmer, name_of_programmer
    from n6build.describe.hardware.boards import home_of_board, load_board
    from n6build.steps.goal_checks import check_goals

    check_goals(choices, goals)
    board = load_board(choices.board, home_of_board(choices.board))
    return name_of_programmer(choose_programmer(choices.probe, board, Path(choices.build)))
