"""Checks of a relocatable model.

They repeat every check and step of a loader in both modes, and then check the facts that no loader
checks.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.compile.ll_aton import Version
from n6build.describe.hardware.aliases import secure_alias
from n6build.describe.hardware.board import Board
from n6build.place.reloc.loader import Firmware, Installed, Mode, Placement, Refusal, install
from n6build.place.reloc.model_format import (
    EXTERNAL_MEMORY,
    OFFSET_MASK,
    WORD,
    PoolContent,
    PoolDescriptor,
    PoolType,
    Segment,
    abi_of,
    offset,
    segment,
    up,
)
from n6build.place.reloc.reader import RelocFile

# An application might choose these addresses.
_FILE, _PARAMS, _EXT_RAM, _EXEC_RAM = 0x7100_0000, 0x7180_0000, 0x9000_0000, 0x3410_0000
# Networks cannot use these memories: they are only for the CPU, or read-only.
_NO_RAM = ("ITCM", "DTCM", "BOOTROM")
# Report at most this many places with the same fault.
_MENTIONED = 20
# Text for faults that a loader does not check.
_UNSEEN = "the loader returns 0"
_MODES: tuple[Mode, ...] = ("copy", "xip")


@dataclass(frozen=True)
class Finding:
    """A fault of a model. severity: 'error' refuses the model, 'warning' does not."""

    severity: Literal["error", "warning"]
    what: str


def ram_of(board: Board) -> tuple[Span, ...]:
    """Return the RAM in which memory pools with a fixed address may be.

    The spans are memories of the chip, in their secure alias, and the external RAM. Adjacent spans
    are merged.
    """
    chip = [Span(each.base, each.size) for name, each in board.soc.memories.items() if name not in _NO_RAM]
    chip = [each for each in chip if each.address < EXTERNAL_MEMORY]
    external = board.external_ram
    if external:
        chip.append(Span(board.soc.memories[external.memory].base, external.size))
    return merged(chip)


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans by address, with those that touch or overlap merged."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda each: each.address):
        if found and span.address <= found[-1].end:
            found[-1] = Span(found[-1].address, max(found[-1].end, span.end) - found[-1].address)
        else:
            found.append(span)
    return tuple(found)


def verify(
    model: RelocFile,
    params: bytes | None,
    ram: Sequence[Span],
    version: Version | None = None,
    *,
    secure: bool | None = None,
) -> list[Finding]:
    """Return the faults of a model.

    An empty list means that a loader accepts the model, and that every address in it is inside its
    segment.

    Args:
        model: the model.
        params: the weights' file of a split model; None if it is not available.
        ram: RAM of the board, as `ram_of` returns it.
        version: ll_aton's version of the firmware; that of the model by default.
        secure: security state of the firmware; that of the model by default.
    """
    firmware = Firmware(
        version=version or model.version,
        secure=model.flags.secure if secure is None else secure,
        debug_info=model.flags.debug_info,
        asynchronous=version is not None or model.flags.asynchronous,
    )
    findings = [*_version(model, firmware), *_file(model), *_params(model, params), *_entries(model)]
    findings += [*_executable_ram(model, ram), *_pools(model, ram), *_relocations(model), *_gaps(model)]
    for mode in _MODES:
        findings += _installation(model, firmware, mode)
    return list(dict.fromkeys(findings))


def _error(what: str) -> Finding:
    return Finding("error", what)


def _version(model: RelocFile, firmware: Firmware) -> Iterator[Finding]:
    """Check the versions.

    The dev number distinguishes two ABIs that have the same other numbers, and no loader compares it.
    """
    if model.version[:3] == firmware.version[:3] and model.version[3] != firmware.version[3]:
        yield _error(
            f"ll_aton's last number is {model.version[3]}, but the firmware has {firmware.version[3]}: a loader "
            f"accepts the model, which then calls wrong functions (ABI {abi_of(model.version).letter} and "
            f"{abi_of(firmware.version).letter})"
        )
    if abi_of(model.version).header_bytes != model.abi.header_bytes:
        yield _error(
            f"its header has {len(model.abi.entries)} entry points, ll_aton {'.'.join(map(str, model.version[:3]))} has "
            f"{len(abi_of(model.version).entries)}"
        )
    if model.flags.api != (8, 0):
        yield Finding("warning", f"reloc API {model.flags.api[0]}.{model.flags.api[1]}; n6build only knows 8.0")


def _file(model: RelocFile) -> Iterator[Finding]:
    missing = model.file_bytes - len(model.data)
    if missing > 0:
        yield _error(
            f"{missing} bytes are missing: it has {len(model.data)}, but its header reports {model.file_bytes}"
        )
    elif missing < 0:
        yield Finding("warning", f"{-missing} bytes follow its end")
    if model.read_only_bytes % 8:
        yield _error(f"its read-only part has {model.read_only_bytes} bytes, not a multiple of 8")
    if not model.is_split and model.params_offset % 8:
        yield _error(f"its weights begin at 0x{model.params_offset:X}, not a multiple of 8")
    if not model.is_split and model.params_offset < offset(model.header["rel_end"]):
        yield _error("its weights overlap its table of relocations")


def _params(model: RelocFile, params: bytes | None) -> Iterator[Finding]:
    """Check the size and the CRC of the weights; no loader checks the CRC.

    It may be 0 in a split model of n6build, which stores the CRC in the weights' flash slot.
    """
    if not model.is_split:
        params = model.data[model.params_offset : model.params_offset + model.params_bytes]
    if params is None:
        yield Finding("warning", "its weights are in a separate file, which is not checked")
        return
    if len(params) != model.params_bytes:
        yield _error(f"its weights have {len(params)} bytes, but it reports {model.params_bytes}")
        return
    expected = model.context["params_file_crc32"]
    if zlib.crc32(params) != expected and not (model.is_split and expected == 0):
        yield _error(f"the CRC of its weights is 0x{zlib.crc32(params):08X}, but it reports 0x{expected:08X}")


def _relocations(model: RelocFile) -> Iterator[Finding]:
    places = Counter((*model.got, *model.relocations))
    for address in [address for address, count in places.items() if count > 1][:_MENTIONED]:
        yield _error(f"the word at 0x{address:08X} is rebased twice")


def _gaps(model: RelocFile) -> Iterator[Finding]:
    """Check that the padding between the parts of a file is 0.

    Entries in the padding belong to a table whose end or start was moved. Their words would keep
    their link addresses, and no loader notices.
    """
    header, image = model.header, model.read_only_bytes
    table_end = offset(header["rel_end"])
    gaps = (
        ("the data and its GOT", image + offset(header["data_end"]), image + offset(header["got_start"])),
        ("its GOT and the end of its data", image + offset(header["got_end"]), image + model.image_bytes),
        ("its data and its table of relocations", image + model.image_bytes, offset(header["rel_start"])),
        ("its table of relocations and what follows it", table_end, model.params_offset or up(table_end)),
    )
    for name, start, end in gaps:
        used = sum(1 for (word,) in struct.iter_unpack("<I", _words(model.data, start, end)) if word)
        if used:
            yield _error(f"{used} words between {name} are not 0: a table is cut short ({_UNSEEN})")
    if model.is_split:
        behind = _words(model.data, up(table_end), up(table_end) + WORD)
        next_word = int.from_bytes(behind, "little")
        if len(behind) == WORD and segment(next_word) == Segment.RAM and offset(next_word) < model.image_bytes:
            yield _error(f"a relocation of 0x{next_word:08X} follows the end of the table of relocations ({_UNSEEN})")


def _words(data: bytes, start: int, end: int) -> bytes:
    """Return the whole words of [start, end)."""
    part = data[start:end]
    return part[: len(part) // WORD * WORD]


def _entries(model: RelocFile) -> Iterator[Finding]:
    for name, address in model.entries.items():
        inside = model.abi.header_bytes <= offset(address) < model.read_only_bytes
        if segment(address) != Segment.FLASH or not inside or not address & 1:
            yield _error(f"entry point {name} is 0x{address:08X}, not a Thumb function in its code")


def _executable_ram(model: RelocFile, ram: Sequence[Span]) -> Iterator[Finding]:
    """Check that a memory of the chip has room for what a loader installs.

    A firmware that reserves less refuses the model; no firmware can reserve more.
    """
    most = max((span.size for span in ram if span.address < EXTERNAL_MEMORY), default=0)
    if model.xip_bytes > most:
        yield _error(f"needs {model.xip_bytes} bytes of executable RAM, but the largest RAM has {most}")
    elif model.copy_bytes > most:
        what = f"copy: needs {model.copy_bytes} bytes of executable RAM, but the largest RAM has {most}"
        yield Finding("warning", what)


def _pools(model: RelocFile, ram: Sequence[Span]) -> Iterator[Finding]:
    for pool in model.pools:
        yield from _content(model, pool)
        yield from _place(pool, ram)
    placed = [pool for pool in model.pools if pool.type is not PoolType.RELOC]
    for pool, other in itertools.combinations(placed, 2):
        overlap = min(pool.destination + pool.size, other.destination + other.size) - max(
            pool.destination, other.destination
        )
        if overlap > 0:
            yield _error(f"memory pools {pool.name} and {other.name} overlap by {overlap} bytes")
    for number in (0, 1):
        same = [pool.name for pool in model.pools if pool.type is PoolType.RELOC and pool.id == number]
        if len(same) > 1:
            yield _error(f"memory pools {' and '.join(same)} are both segment {number}: the last one counts")
    external = up(_segment_bytes(model, 1))
    if up(model.context["external_ram_bytes"]) < external:
        yield _error(f"needs {model.context['external_ram_bytes']} bytes of external RAM, but its pool has {external}")


def _segment_bytes(model: RelocFile, number: int) -> int:
    """Return the bytes of the pool that is placed as this segment; 0 if there is none."""
    return max((pool.size for pool in model.pools if pool.type is PoolType.RELOC and pool.id == number), default=0)


def _place(pool: PoolDescriptor, ram: Sequence[Span]) -> Iterator[Finding]:
    if pool.size > OFFSET_MASK:
        yield _error(f"memory pool {pool.name} has {pool.size} bytes, but a segment has {OFFSET_MASK + 1} ({_UNSEEN})")
    elif pool.type is not PoolType.RELOC:
        # The non-secure alias of a memory inside the chip is the same memory.
        start = secure_alias(pool.destination) if pool.destination < EXTERNAL_MEMORY else pool.destination
        if not any(span.address <= start and start + up(pool.size) <= span.end for span in ram):
            what = f"memory pool {pool.name}, {pool.size} bytes at 0x{pool.destination:08X}, is not in RAM"
            yield _error(f"{what} ({_UNSEEN})")


def _content(model: RelocFile, pool: PoolDescriptor) -> Iterator[Finding]:
    holds_weights = pool.content is not PoolContent.ACTIV
    # A loader copies multiples of 8 bytes.
    if holds_weights and pool.foff + up(pool.size) > up(model.params_bytes):
        beyond = pool.foff + up(pool.size) - up(model.params_bytes)
        yield _error(f"memory pool {pool.name} reads {beyond} bytes beyond the end of the weights")
    if pool.type is PoolType.RELOC and pool.id == 0 and not holds_weights:
        yield _error(f"memory pool {pool.name} contains no weights, but is placed with them ({_UNSEEN})")
    if pool.type is PoolType.RESET and holds_weights:
        yield _error(f"memory pool {pool.name} contains weights, but would be cleared")
    if pool.type is PoolType.COPY and not holds_weights:
        yield _error(f"memory pool {pool.name} contains no weights, but would be copied")


def _installation(model: RelocFile, firmware: Firmware, mode: Mode) -> Iterator[Finding]:
    external = model.context["external_ram_bytes"]
    placement = Placement(
        file=_FILE,
        exec_ram=_EXEC_RAM,
        exec_ram_bytes=model.copy_bytes if mode == "copy" else model.xip_bytes,
        ext_ram=_EXT_RAM if external else 0,
        ext_ram_bytes=up(external),
        params=_PARAMS if model.is_split else 0,
        mode=mode,
        clear=True,
    )
    try:
        installed = install(model, firmware, placement)
    except Refusal as refusal:
        yield _error(f"{mode}: {refusal}")
        return
    yield from (Finding("warning", warning) for warning in installed.warnings)
    yield from itertools.islice(_addresses(model, installed), _MENTIONED)


def _addresses(model: RelocFile, installed: Installed) -> Iterator[Finding]:
    """Check that relocations are words of the data with an address inside its segment.

    A loader checks only the segment of that address.
    """
    for address in installed.strays:
        yield _error(f"relocation of 0x{address:08X}, outside of the model: {_UNSEEN} and writes there")
    limits = {
        Segment.FLASH: model.read_only_bytes,
        Segment.RAM: offset(model.header["bss_end"]),
        Segment.PARAM_0: up(_segment_bytes(model, 0)),
        Segment.PARAM_1: up(_segment_bytes(model, 1)),
    }
    strays = set(installed.strays)
    for address in (*model.got, *model.relocations):
        if address in strays:
            continue
        if segment(address) != Segment.RAM or address % WORD or offset(address) + WORD > model.image_bytes:
            yield _error(f"relocation of 0x{address:08X}, which is not an initialised word ({_UNSEEN})")
            continue
        word = model.image_word(address)
        limit = limits[Segment(segment(word))] if word else 0
        if word and not limit:
            yield _error(
                f"the word at 0x{address:08X} is 0x{word:08X}, in a segment that no memory pool places ({_UNSEEN})"
            )
        elif offset(word) > limit:
            yield _error(f"the word at 0x{address:08X} is 0x{word:08X}, beyond the end of its segment ({_UNSEEN})")


def errors(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of severity error."""
    return [finding for finding in findings if finding.severity == "error"]


def check_model(model: RelocFile, ram: Sequence[Span]) -> None:
    """Check a model before it goes to flash. ram: RAM of the board.

    Raises:
        N6Error: N6-RELOC-015 if a loader would refuse the model, or if the model is not sound.
    """
    wrong = errors(verify(model, None, ram))
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        what = f"n6build made a faulty model: {wrong[0].what}{more}"
        hint = "report this fault of n6build, with the output of tools/reloc.py verify"
        raise N6Error("N6-RELOC-015", what, where=model.name, hint=hint)


def check_given(model: RelocFile, params: bytes | None, ram: Sequence[Span], version: Version, file: str) -> None:
    """Check a model made by another tool, for a secure Appli.

    Args:
        model: the file's content.
        params: the file with its weights, if they are a separate file.
        ram: RAM of the board.
        version: version of the Appli's ll_aton.
        file: name of the file in messages.

    Raises:
        N6Error: N6-RELOC-041 if the loader would refuse the model, or if the model is not sound.
    """
    wrong = errors(verify(model, params, ram, version, secure=True))
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        hint = "make or copy the model again; tools/reloc.py verify lists all errors"
        raise N6Error(
            "N6-RELOC-041", f"no loader on this board can use it: {wrong[0].what}{more}", where=file, hint=hint
        )
