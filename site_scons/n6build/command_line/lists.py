"""What is printed about boards, models and this machine."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.console import say, show, styled


def print_list(name: str, cmsis: Sequence[str]) -> None:
    """name: boards, models or doctor. cmsis: folders of device headers. Raises N6Error for a faulty description."""
    if name == "boards":
        _print_boards()
    elif name == "models":
        _print_models()
    else:
        _print_doctor(cmsis)


def _print_boards() -> None:
    from n6build.hardware.boards import home_of_board, known_boards, load_board

    for name in known_boards():
        board = load_board(name, home_of_board(name))
        aliases = f" ({', '.join(board.aliases)})" if board.aliases else ""
        say(
            name,
            f"{board.title}{aliases}",
            f"{board.nor.size >> 20} MB NOR at {board.nor_clock_hz // 1_000_000} MHz; profiles {', '.join(board.profiles())}",
        )


def _print_models() -> None:
    from n6build.models.model import known_models, load_model, models_folder

    for name in known_models():
        model = load_model(name, models_folder(name))
        quality = f"{model.quality.metric} {model.quality.value} on {model.quality.on}" if model.quality else ""
        say(name, model.description, quality)


def _print_doctor(cmsis: Sequence[str]) -> None:
    from n6build.doctor import examine, virtual_npu

    for finding in examine(cmsis):
        if finding.found:
            show(f"  {styled('found  ', 'good')} {finding.tool:<22}{finding.found:<20}{finding.why}")
        else:
            style = "bad" if finding.needed == "always" else "dim"
            show(
                f"  {styled('missing', style)} {finding.tool:<22}{finding.needed + ':':<20}{finding.why}; {finding.fix}"
            )
    show("\n".join(virtual_npu()))
