"""Tables about boards, models and this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from n6build.base.console import say, show, styled
from n6build.board.flash.receipt import VIRTUAL

if TYPE_CHECKING:
    from n6build.board.run.first_cable import CableStep
    from n6build.describe.hardware.board import Board
    from n6build.describe.model import Model
    from n6build.describe.option import Setting


@dataclass(frozen=True)
class Desk:
    """The subject of doctor: a machine, and the cable of a board.

    Attributes:
        cmsis: Folders of device headers.
        board: Name of the board.
        probe: Probe whose cable is examined; empty for none.
    """

    cmsis: Sequence[str]
    board: str
    probe: str


def desk_of(settings: Mapping[str, Setting], cmsis: Sequence[str]) -> Desk:
    """Return what doctor looks at: a cable only if the command names its probe."""
    probe = settings["probe"]
    return Desk(cmsis, settings["board"].value, probe.value if probe.is_explicit and probe.value != VIRTUAL else "")


def print_list(name: str, desk: Desk) -> None:
    """Print the boards, the models or the findings of doctor.

    Args:
        name: Name of the list.
        desk: What doctor looks at.

    Raises:
        N6Error: A description is faulty; the errors of `cable_steps`.
    """
    if name == "boards":
        _print_boards()
    elif name == "models":
        _print_models()
    else:
        _print_doctor(desk)


def list_data(name: str, desk: Desk) -> object:
    """Return the rows of a list, for JSON.

    Args:
        name: Name of the list.
        desk: What doctor looks at.

    Raises:
        N6Error: As for `print_list`.
    """
    if name == "boards":
        return _boards()
    return _models() if name == "models" else _doctor(desk)


def _loaded_boards() -> list[Board]:
    from n6build.describe.hardware.boards import home_of_board, known_boards, load_board

    return [load_board(name, home_of_board(name)) for name in known_boards()]


def _boards() -> list[dict[str, object]]:
    return [
        {
            "name": board.name,
            "title": board.title,
            "aliases": board.aliases,
            "nor_bytes": board.nor.size,
            "nor_clock_hz": board.nor_clock_hz,
            "clock": board.clock.name,
            "cpu_hz": board.clock.cpu_hz,
            "npu_hz": board.clock.npu_hz,
            "profiles": board.profiles(),
        }
        for board in _loaded_boards()
    ]


def _print_boards() -> None:
    for board in _loaded_boards():
        aliases = f" ({', '.join(board.aliases)})" if board.aliases else ""
        say(
            board.name,
            f"{board.title}{aliases}",
            f"{board.nor.size >> 20} MB NOR at {board.nor_clock_hz // 1_000_000} MHz; profiles {', '.join(board.profiles())}",
        )


def _loaded_models() -> list[tuple[str, Model]]:
    """Return models with the names of their folders."""
    from n6build.describe.model import known_models, load_model, models_folder

    return [(name, load_model(name, models_folder(name))) for name in known_models()]


def _models() -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "description": model.description,
            "quality": asdict(model.quality) if model.quality else None,
        }
        for name, model in _loaded_models()
    ]


def _print_models() -> None:
    for name, model in _loaded_models():
        quality = f"{model.quality.metric} {model.quality.value} on {model.quality.on}" if model.quality else ""
        say(name, model.description, quality)


def _doctor(desk: Desk) -> dict[str, object]:
    from n6build.cli.doctor import examine, not_modelled

    found: dict[str, object] = {"tools": [asdict(finding) for finding in examine(desk.cmsis)]}
    if desk.probe:
        found["cable"] = [asdict(step) for step in _cable(desk)]
    return found | {"npu_not_modelled": not_modelled()}


def _cable(desk: Desk) -> Iterator[CableStep]:
    from n6build.board.run.first_cable import cable_steps
    from n6build.describe.hardware.boards import home_of_board, load_board

    return cable_steps(desk.probe, load_board(desk.board, home_of_board(desk.board)))


def _print_doctor(desk: Desk) -> None:
    from n6build.cli.doctor import examine, virtual_npu

    if desk.probe:
        for step in _cable(desk):
            show(f"  {styled('works  ', 'good')} {step.name:<22}{step.seen}")
        return
    for finding in examine(desk.cmsis):
        if finding.found:
            show(f"  {styled('found  ', 'good')} {finding.tool:<22}{finding.found:<20}{finding.why}")
        else:
            style = "bad" if finding.needed == "always" else "dim"
            show(
                f"  {styled('missing', style)} {finding.tool:<22}{finding.needed + ':':<20}{finding.why}; {finding.fix}"
            )
    show("\n".join(virtual_npu()))
