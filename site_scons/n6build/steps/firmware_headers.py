"""Steps for generated headers and linker scripts of the firmware.

Each header of the chip and the board has its own step. n6_kernels.h and n6_kernels_plain.h declare
the kernels that networks of the reference backend call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.base import c_format
from n6build.base.c_format import Format, header_text
from n6build.base.files import write_atomically
from n6build.base.members import members
from n6build.base.paths import TEMPLATES, project_path
from n6build.base.templates import with_included
from n6build.describe.hardware import field_registers, program_places
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.board_header import HEADERS
from n6build.describe.hardware.field_registers import FIELD, FieldRegisters, field_header, read_field_registers
from n6build.describe.hardware.program_places import ProgramRam, appli_ram, fsbl_ram, program_script
from n6build.describe.hardware.soc import Soc
from n6build.describe.hardware.soc_header import HEADERS as SOC_HEADERS
from n6build.describe.hardware.soc_header import Described, Header
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.trust import anchor
from n6build.place.trust.anchor import trust_header
from n6build.place.trust.choice import Trust


def board_header_steps(folder: str, board: Board) -> tuple[Step, ...]:
    """Return a step for each header of chip and board, such as <folder>/n6_soc.h."""
    of_chip = (_step(folder, each, board.soc) for each in SOC_HEADERS)
    return (*of_chip, *(_step(folder, each, board) for each in HEADERS))


def _step(folder: str, header: Header[Described], described: Described) -> Step:
    function = "n6build.steps.firmware_headers:make_board_headers"
    return _generated(function, [f"{folder}/{header.name}"], [header.template], header.of(described))


def _generated(
    function: str, outputs: Iterable[str], templates: Iterable[Path], parameters: object = None, verb: str = "Header"
) -> Step:
    """Return a step whose function renders templates.

    Args:
        function: Function of the step.
        outputs: Files that it makes.
        templates: Templates that it renders.
        parameters: A dataclass, or None for none.
        verb: Name on the console.
    """
    return Step(
        verb=verb,
        stage="header",
        outputs=tuple(outputs),
        parameters=to_parameters(parameters or {}),
        templates=tuple(project_path(path) for template in templates for path in with_included(template)),
        function=function,
    )


def make_board_headers(call: Call) -> None:
    """Write the header that has the name of the output."""
    headers: tuple[Header[Soc] | Header[Board], ...] = (*SOC_HEADERS, *HEADERS)
    header = next(each for each in headers if each.name == call.outputs[0].name)
    write_atomically(call.outputs[0], header.text(call.parameters_as(header.kind)))


def field_header_step(folder: str, board: Board) -> Step:
    """Return the step that makes <folder>/n6_field_registers.h.

    Raises:
        N6Error: N6-SOC-010 if a register of the report is unknown.
    """
    function = "n6build.steps.firmware_headers:make_field_header"
    described = read_field_registers(FIELD, board.soc)
    return _generated(function, [f"{folder}/n6_field_registers.h"], [field_registers.TEMPLATE], described)


def make_field_header(call: Call) -> None:
    """Write n6_field_registers.h."""
    write_atomically(call.outputs[0], field_header(call.parameters_as(FieldRegisters)))


FORMATS = members("n6build.describe.formats.*", "FORMAT", Format)


def format_headers_step(folder: str) -> Step:
    """Return the step that writes a header for each format into `folder`."""
    function = "n6build.steps.firmware_headers:make_format_headers"
    return _generated(function, (f"{folder}/{each.header}" for each in FORMATS), [c_format.TEMPLATE])


def make_format_headers(call: Call) -> None:
    """Write the headers."""
    for output, described in zip(call.outputs, FORMATS, strict=True):
        write_atomically(output, header_text(described))


@dataclass(frozen=True)
class TrustHeaderParameters:
    """Parameters of the step.

    Attributes:
        board: Name of the board.
        points: Public keys, by their numbers.
        floor_word: Fuse word with the lowest accepted security counter.
        revoked_word: Fuse word that revokes keys.
        key_word: First fuse word of the key of encrypted images.
    """

    board: str
    points: tuple[str, ...]
    floor_word: int
    revoked_word: int
    key_word: int


def trust_header_step(folder: str, board: Board, trust: Trust) -> Step:
    """Return the step that writes <folder>/n6_trust_key.h."""
    function, soc = "n6build.steps.firmware_headers:make_trust_header", board.soc
    words = soc.security_counter, soc.revoked_keys, soc.encryption_key
    parameters = TrustHeaderParameters(board.name, trust.points, *words)
    return _generated(function, [f"{folder}/n6_trust_key.h"], [anchor.TEMPLATE], parameters)


def make_trust_header(call: Call) -> None:
    """Write n6_trust_key.h."""
    given = call.parameters_as(TrustHeaderParameters)
    points = [bytes.fromhex(each) for each in given.points]
    words = given.floor_word, given.revoked_word, given.key_word
    write_atomically(call.outputs[0], trust_header(points, given.board, *words))


_RAM = {"fsbl": fsbl_ram, "appli": appli_ram}


def program_script_step(output: str, board: Board, program: Literal["fsbl", "appli"]) -> Step:
    """Return the step that writes the linker script of FSBL or Appli."""
    function = "n6build.steps.firmware_headers:make_program_script"
    return _generated(function, [output], [program_places.TEMPLATE], _RAM[program](board.soc), "Script")


def make_program_script(call: Call) -> None:
    """Write the linker script."""
    write_atomically(call.outputs[0], program_script(call.parameters_as(ProgramRam)))


NAMES = ("n6_kernels.h", "n6_kernels_plain.h")


def kernel_headers_step(folder: str) -> Step:
    """Return the step that writes both headers into `folder`."""
    function = "n6build.steps.firmware_headers:make_kernel_header_files"
    return _generated(function, (f"{folder}/{name}" for name in NAMES), (TEMPLATES / f"{name}.j2" for name in NAMES))


def make_kernel_header_files(call: Call) -> None:
    """Write both headers."""
    from n6build.compile.reference.kernel_headers import (  # noqa: PLC0415 - planning reads no operator.
        kernels_header,
        plain_kernels_header,
    )

    for path, text in zip(call.outputs, (kernels_header(), plain_kernels_header()), strict=True):
        write_atomically(path, text)
