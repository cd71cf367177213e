"""A program of the host project, and the options of its users for n6build."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from n6build.base.errors import N6Error

# Prefix of n6build's options on the command line of a project that has options of its own: n6.probe=virtual.
PREFIX = "n6."
# The networks for programs that the host links, and the linker script with all else that these programs need.
LIBRARY = "libn6networks.a"
LINK = "n6_networks.ld"


@dataclass(frozen=True)
class HostProgram:
    """A program of the host project that the networks are for.

    If it has neither `elf` nor `sources`, its own build uses the networks' object files.

    Attributes:
        name: Name of its folder, unique among programs with the same networks and board.
        elf: File that its own build links.
        sources: C files that n6build compiles instead, on its own start-up code.
        include_folders: Include folders for `sources`.
        defines: NAME or NAME=value, for `sources`.
        flags: Flags of the compiler for `sources`.
    """

    name: str
    elf: str = ""
    sources: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def is_linked_elsewhere(self) -> bool:
        """Return whether the host only needs the networks' object files."""
        return not (self.elf or self.sources)


def options_for_us(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the options of n6build in a host's command line, without their prefix."""
    return {name.removeprefix(PREFIX): value for name, value in arguments.items() if name.startswith(PREFIX)}


def refuse_unnamed_target(name: str) -> NoReturn:
    """Refuse a target that is planned only when the command line names it.

    Raises:
        N6Error: N6-HOST-003 always.
    """
    what = f"'{name}' needs a board, so it only works if the command line names this target"
    raise N6Error("N6-HOST-003", what, hint="name it on the command line, together with the targets that depend on it")


def refuse_options_of_network(given: Iterable[str], where: str) -> None:
    """Refuse options for the image of a program whose networks have options already.

    Args:
        given: Names of options of the image.
        where: file:line of the builder's call.

    Raises:
        N6Error: N6-HOST-004 for an option other than linker_map and linker_script.
    """
    for option in sorted({*given} - {"linker_map", "linker_script"}):
        what = f"N6Image has option '{option}', but also a network, whose options apply"
        raise N6Error("N6-HOST-004", what, where=where, hint="give it to N6Network")


def refuse_two_libraries(linked: Iterable[str], where: str) -> None:
    """Refuse a program with the networks of two libraries.

    Args:
        linked: Files that the program is linked with.
        where: file:line of the builder's call.

    Raises:
        N6Error: N6-HOST-005 if two libraries of networks are among the files.
    """
    libraries = sorted({each for each in linked if each.rpartition("/")[2] == LIBRARY})
    if len(libraries) > 1:
        what = (
            f"the program is linked with {' and '.join(libraries)}: the linker would use the networks of one and "
            f"drop the other"
        )
        raise N6Error(
            "N6-HOST-005", what, where=where, hint='use one N6Network with several models: model=["one", "two"]'
        )
