"""What somebody has chosen for a build: the options, resolved and typed. A plan follows from it and from nothing else that can be
chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from n6build.base.errors import N6Error
from n6build.options.settings import Setting, modes_of

Loader = Literal["linked", "reloc"]
LoadMode = Literal["copy", "xip"]


@dataclass(frozen=True)
class Choices:
    """board, models, profile, ...: as the options of these names. models: names, or paths relative to
    `launched`, the folder in which the command was typed.
    probe: as option probe. pair: of a matrix, which has a virtual board for each. c_flags: of the project around.

    build: folder of all that is built. romfs, inputs, expected, log: paths, empty where they are not wanted.
    """

    board: str = "nucleo-n657"
    models: tuple[str, ...] = ("miniresnet",)
    profile: str = "extflash"
    backend: str = "auto"
    loader: Loader = "linked"
    load: LoadMode = "copy"
    split: bool = False
    secure: bool = True
    debug_info: bool = True
    slots: int = 1
    addresses: str = ""
    name: str = ""
    parse_only: bool = False
    gen_c_file: bool = False
    romfs: str = ""
    probe: str = "auto"
    sign: str = ""
    dry: bool = False
    inputs: str = ""
    expected: str = ""
    console: str = ""
    runs: int = 0
    modes: tuple[str, ...] = ()
    start: Literal["flash", "ram"] = "flash"
    gdb: bool = False
    verbosity: int = 0
    log: str = ""
    build: str = "build"
    pair: str = ""
    c_flags: tuple[str, ...] = ()
    launched: str = ""


def choices_of(settings: Mapping[str, Setting], launched: Path) -> Choices:
    """launched: folder in which the caller typed the command, where relative paths start. Raises N6-OPTION-005 for a name."""
    value = {name: setting.value for name, setting in settings.items()}
    models = tuple(value["model"].split(","))
    name = value["name"]
    if name and (len(models) > 1 or not name.isidentifier()):
        what = f"'name={name}' names a single network, with letters, digits and _"
        raise N6Error("N6-OPTION-005", what, hint="network.name in each model.yaml names several")

    def path(text: str) -> str:
        return str(launched / text) if text else ""

    return Choices(
        board=value["board"],
        models=models,
        profile=value["profile"],
        backend=value["backend"],
        loader=cast(Loader, value["loader"]),
        load=cast(LoadMode, value["load"]),
        split=value["split"] == "1",
        secure=value["secure"] == "1",
        slots=int(value["slots"]),
        addresses=value["addresses"],
        name=name,
        parse_only=value["parse_only"] == "1",
        gen_c_file=value["gen_c_file"] == "1",
        romfs=path(value["romfs"]),
        probe=value["probe"],
        sign=value["sign"],
        dry=value["dry"] == "1",
        inputs=path(value["inputs"]),
        expected=path(value["expected"]),
        console=value["console"],
        runs=int(value["runs"] or 0),
        modes=tuple(sorted(modes_of(settings))),
        start=cast(Literal["flash", "ram"], value["start"]),
        gdb=value["gdb"] == "1",
        verbosity=2 if value["debug"] == "1" else int(value["verbosity"]),
        log=path(value["log"]),
        launched=str(launched),
    )
