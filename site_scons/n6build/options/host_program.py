"""A program of the project that n6build is embedded in, and the options that its users give for n6build."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from n6build.base.errors import N6Error

# Names of options on the command line of a project that has options of its own: n6.probe=virtual.
PREFIX = "n6."
# The networks, for programs that somebody else links, and the linker script with all else that those need.
LIBRARY = "libn6networks.a"
LINK = "n6_networks.ld"


@dataclass(frozen=True)
class HostProgram:
    """A program that the networks are for. name: of its folder, unique among those with the same networks and board. elf: the
    file that its own build links. sources: compiled here, on this project's start-up, instead. Neither: its build asks for the
    networks' object files. include_folders, defines (NAME or NAME=value), flags: for `sources`."""

    name: str
    elf: str = ""
    sources: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def is_linked_elsewhere(self) -> bool:
        """Whether only the networks' object files are wanted of this project."""
        return not (self.elf or self.sources)


def options_for_us(arguments: Mapping[str, str]) -> dict[str, str]:
    """The options in a host's command line that are n6build's, without their prefix."""
    return {name.removeprefix(PREFIX): value for name, value in arguments.items() if name.startswith(PREFIX)}


def refuse_unnamed_target(name: str) -> NoReturn:
    """For a target that is planned only when the command line names it. Raises N6-HOST-003."""
    what = f"'{name}' needs a board, which is looked for only when the command line names this target"
    raise N6Error("N6-HOST-003", what, hint="name it there, beside what depends on it")


def refuse_options_of_network(given: Iterable[str], where: str) -> None:
    """given: names of options for the image of a program whose networks have theirs. Raises N6-HOST-004."""
    for option in sorted({*given} - {"linker_map", "linker_script"}):
        what = f"N6Image has option '{option}', but a network, whose options hold"
        raise N6Error("N6-HOST-004", what, where=where, hint="give it to N6Network")


def refuse_two_libraries(linked: Iterable[str], where: str) -> None:
    """linked: what a program is linked with. Raises N6-HOST-005 where the networks of two libraries are among it."""
    libraries = sorted({each for each in linked if each.rpartition("/")[2] == LIBRARY})
    if len(libraries) > 1:
        what = f"the program is linked with {' and '.join(libraries)}: the linker takes the networks of one and drops the other"
        raise N6Error("N6-HOST-005", what, where=where, hint='one N6Network has several: model=["one", "two"]')
