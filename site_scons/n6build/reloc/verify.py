"""Whether a relocatable model is sound: every check and step of a loader in both modes, then what a loader does not look at."""

from __future__ import annotations

import itertools
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.base.errors import N6Error
from n6build.network.ll_aton import Version
from n6build.reloc.layout import (
    CACHED,
    EXTERNAL_MEMORY,
    WRITE,
    PoolContent,
    PoolDescriptor,
    PoolType,
    Segment,
    abi_of,
    offset,
    segment,
    up,
)
from n6build.reloc.loader import Firmware, Installed, Mode, Placement, Refusal, install
from n6build.reloc.reader import RelocFile

# Some place for everything, as an application might choose it.
_FILE, _PARAMS, _EXT_RAM, _EXEC_RAM = 0x7100_0000, 0x7180_0000, 0x9000_0000, 0x3410_0000
# Of many places with the same fault, the first ones are enough.
_MENTIONED = 20
_MODES: tuple[Mode, ...] = ("copy", "xip")


@dataclass(frozen=True)
class Finding:
    """severity: 'error' refuses the model, 'warning' does not."""

    severity: Literal["error", "warning"]
    what: str


def verify(
    model: RelocFile, params: bytes | None, version: Version | None = None, *, secure: bool | None = None
) -> list[Finding]:
    """params: the weights' file of a split model, None where it is not available. version, secure: of the firmware, by default
    those of the model. An empty list: a loader accepts the model, and every address in it is inside its segment."""
    firmware = Firmware(
        version=version or model.version,
        secure=model.flags.secure if secure is None else secure,
        debug_info=model.flags.debug_info,
        asynchronous=version is not None or model.flags.asynchronous,
        cpu=model.flags.cpu if version is None else Firmware(version).cpu,
    )
    findings = [*_version(model, firmware), *_file(model), *_params(model, params), *_entries(model), *_pools(model)]
    findings += _relocations(model)
    for mode in _MODES:
        findings += _installation(model, firmware, mode)
    return list(dict.fromkeys(findings))


def _error(what: str) -> Finding:
    return Finding("error", what)


def _version(model: RelocFile, firmware: Firmware) -> Iterator[Finding]:
    """The dev number distinguishes two ABIs that call themselves the same, and no loader compares it."""
    if model.version[:3] == firmware.version[:3] and model.version[3] != firmware.version[3]:
        yield _error(
            f"ll_aton's last number is {model.version[3]}, the firmware has {firmware.version[3]}: a loader takes the model, "
            f"and it then calls the wrong functions (ABI {abi_of(model.version).letter} and {abi_of(firmware.version).letter})"
        )
    if abi_of(model.version).header_bytes != model.abi.header_bytes:
        yield _error(
            f"its header has {len(model.abi.entries)} entry points, ll_aton {'.'.join(map(str, model.version[:3]))} has "
            f"{len(abi_of(model.version).entries)}"
        )
    if model.flags.api != (8, 0):
        yield Finding("warning", f"reloc API {model.flags.api[0]}.{model.flags.api[1]}, only 8.0 is known")


def _file(model: RelocFile) -> Iterator[Finding]:
    missing = model.file_bytes - len(model.data)
    if missing > 0:
        yield _error(f"{missing} bytes are missing: it has {len(model.data)}, its header reports {model.file_bytes}")
    elif missing < 0:
        yield Finding("warning", f"{-missing} bytes follow its end")
    if model.read_only_bytes % 8:
        yield _error(f"its read-only part has {model.read_only_bytes} bytes, not a multiple of 8")
    if not model.is_split and model.params_offset % 8:
        yield _error(f"its weights begin at 0x{model.params_offset:X}, not a multiple of 8")
    if not model.is_split and model.params_offset < offset(model.header["rel_end"]):
        yield _error("its weights overlap its table of relocations")


def _params(model: RelocFile, params: bytes | None) -> Iterator[Finding]:
    """The CRC that no loader checks. 0 in a split model of ours: it is in the weights' flash slot then."""
    if not model.is_split:
        params = model.data[model.params_offset : model.params_offset + model.params_bytes]
    if params is None:
        yield Finding("warning", "its weights are a separate file, which was not given")
        return
    if len(params) != model.params_bytes:
        yield _error(f"its weights have {len(params)} bytes, it reports {model.params_bytes}")
        return
    expected = model.context["params_file_crc32"]
    if zlib.crc32(params) != expected and not (model.is_split and expected == 0):
        yield _error(f"the CRC of its weights is 0x{zlib.crc32(params):08X}, it reports 0x{expected:08X}")


def _relocations(model: RelocFile) -> Iterator[Finding]:
    places = Counter((*model.got, *model.relocations))
    for address in [address for address, count in places.items() if count > 1][:_MENTIONED]:
        yield _error(f"the word at 0x{address:08X} is rebased twice")


def _entries(model: RelocFile) -> Iterator[Finding]:
    for name, address in model.entries.items():
        inside = model.abi.header_bytes <= offset(address) < model.read_only_bytes
        if segment(address) != Segment.FLASH or not inside or not address & 1:
            yield _error(f"entry point {name} is 0x{address:08X}, not a Thumb function in its code")


def _pools(model: RelocFile) -> Iterator[Finding]:
    for pool in model.pools:
        yield from _pool(model, pool)
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
    external = max((up(p.size) for p in model.pools if p.type is PoolType.RELOC and p.id == 1), default=0)
    if up(model.context["external_ram_bytes"]) < external:
        yield _error(f"asks for {model.context['external_ram_bytes']} bytes of external RAM, its pool has {external}")


def _pool(model: RelocFile, pool: PoolDescriptor) -> Iterator[Finding]:
    holds_weights = pool.content is not PoolContent.ACTIV
    # A loader copies multiples of 8 bytes.
    if holds_weights and pool.foff + up(pool.size) > up(model.params_bytes):
        beyond = pool.foff + up(pool.size) - up(model.params_bytes)
        yield _error(f"memory pool {pool.name} reads {beyond} bytes beyond the end of the weights")
    if pool.type is PoolType.RELOC:
        return
    if pool.type is PoolType.RESET and holds_weights:
        yield _error(f"memory pool {pool.name} holds weights, but would be cleared")
    if pool.type is PoolType.COPY and not holds_weights:
        yield _error(f"memory pool {pool.name} holds no weights, but would be copied")
    if pool.destination + pool.size > 1 << 32 or pool.destination == 0:
        yield _error(f"memory pool {pool.name} is at 0x{pool.destination:08X}, {pool.size} bytes")
    if pool.destination >= EXTERNAL_MEMORY and not pool.attributes & (WRITE | CACHED):
        yield _error(f"memory pool {pool.name} would be copied to flash at 0x{pool.destination:08X}")


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
    """Every link address points into its segment. A loader only looks at the segment."""
    external = next((pool.size for pool in model.pools if pool.type is PoolType.RELOC and pool.id == 1), 0)
    limits = {
        Segment.FLASH: model.read_only_bytes,
        Segment.RAM: offset(model.header["bss_end"]),
        Segment.PARAM_0: model.params_bytes,
        Segment.PARAM_1: external,
    }
    for address in (*model.got, *model.relocations):
        word = model.image_word(address) if offset(address) < model.image_bytes else 0
        if offset(address) >= model.image_bytes:
            yield _error(f"relocation of 0x{address:08X}, which is not an initialised word")
        elif word and offset(word) > limits[Segment(segment(word))]:
            yield _error(f"the word at 0x{address:08X} is 0x{word:08X}, beyond the end of its segment")
        elif word and not installed.bases.get(Segment(segment(word))):
            yield _error(f"the word at 0x{address:08X} is 0x{word:08X}, in a segment that no memory pool places")


def errors(findings: Sequence[Finding]) -> list[Finding]:
    """Those of severity error."""
    return [finding for finding in findings if finding.severity == "error"]


def check_model(model: RelocFile) -> None:
    """Before a model goes to flash. Raises N6-RELOC-015 where a loader would refuse it, or where it is not sound."""
    wrong = errors(verify(model, None))
    if wrong:
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        what = f"the model that was made is not sound: {wrong[0].what}{more}"
        hint = "this is a fault of n6build: tools/reloc.py verify shows all of it"
        raise N6Error("N6-RELOC-015", what, where=model.name, hint=hint)
