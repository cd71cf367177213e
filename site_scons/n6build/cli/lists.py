"""Tables about boards, models and this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from n6build.base.console import say, show, styled

if TYPE_CHECKING:
    from n6build.describe.hardware.board import Board
    from n6build.describe.model import Model


def print_list(name: str, cmsis: Sequence[str]) -> None:
    """Print the boards, the models or the findings of doctor.

    Args:
        name: Name of the list.
        cmsis: Folders of device headers.

    Raises:
        N6Error: A description is faulty.
    """
    if name == "boards":
        _print_boards()
    elif name == "models":
        _print_models()
    else:
        _print_doctor(cmsis)


def list_data(name: str, cmsis: Sequence[str]) -> object:
    """Return the rows of a list, for JSON.

    Args:
        name: Name of the list.
        cmsis: Folders of device headers.
    """
    if name == "boards":
        return _boards()
    return _models() if name == "models" else _doctor(cmsis)


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


def _doctor(cmsis: Sequence[str]) -> dict[str, object]:
    from n6build.cli.doctor import examine, not_modelled

    return {"tools": [asdict(finding) for finding in examine(cmsis)], "npu_not_modelled": not_modelled()}


def _print_doctor(cmsis: Sequence[str]) -> None:
    from n6build.cli.doctor import examine, virtual_npu

    for finding in examine(cmsis):
        if finding.found:
            show(f"  {styled('found  ', 'good')} {finding.tool:<22}{finding.found:<20}{finding.why}")
        else:
            style = "bad" if finding.needed == "always" else "dim"
            show(
                f"  {styled('missing', style)} {finding.tool:<22}{finding.needed + ':':<20}{finding.why}; {finding.fix}"
            )
    show("\n".join(virtual_npu()))
