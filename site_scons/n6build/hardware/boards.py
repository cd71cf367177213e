"""Boards: boards/<name>/board.yaml over boards/soc/<soc>.yaml, checked on load. All sizes are bytes, all clocks Hz."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import files_in, is_file, remembered
from n6build.base.paths import BOARDS
from n6build.base.yaml_schema import Address, Document, Name, Range, Size, read_document
from n6build.hardware.nor import Mode, NorCommands, load_nor_commands
from n6build.hardware.soc import Clock, Level, Profile, Soc, read_soc

Alias = Literal["secure", "non-secure"]

# VDDIO3 at 1.8 V with its high-speed fuse blown (external memory chapter of the reference manual).
_XSPI_LIMIT_HZ = 200_000_000


@dataclass(frozen=True)
class Console:
    """USART1 on two pins such as PE5."""

    tx: str
    rx: str
    alternate: Annotated[int, Range(0, 15)]
    baud: Annotated[int, Range(1200, 4_000_000)]


@dataclass(frozen=True)
class NorPins:
    port: str
    lines: tuple[Annotated[int, Range(0, 15)], ...]
    chip_select: Annotated[int, Range(0, 15)]
    alternate: Annotated[int, Range(0, 15)]

    @property
    def mask(self) -> int:
        """A bit for each line."""
        return sum(1 << line for line in self.lines)


@dataclass(frozen=True)
class Nor:
    """The serial NOR behind XSPI2. jedec_id: three bytes, manufacturer first. sector: what one erase covers.

    commands: name of the file in boards/nor that describes the part's family.
    """

    part: str
    base: Address
    size: Size
    jedec_id: Annotated[int, Range(0, 0xFFFFFF)]
    sector: Size
    commands: Name
    mode: Mode
    max_clock_hz: Annotated[int, Range(1_000_000, _XSPI_LIMIT_HZ)]
    pins: NorPins


@dataclass(frozen=True)
class Slot:
    """A part of the NOR, by its address in the memory-mapped window."""

    address: Address
    size: Size

    @property
    def end(self) -> int:
        return self.address + self.size


@dataclass(frozen=True)
class Slots:
    fsbl: Slot
    appli: Slot
    vectors: Slot
    weights: Slot

    def items(self) -> list[tuple[str, Slot]]:
        return [("fsbl", self.fsbl), ("appli", self.appli), ("vectors", self.vectors), ("weights", self.weights)]


@dataclass(frozen=True)
class Region:
    """A part of the external RAM. limit: what it must not grow beyond, though there were room."""

    size: Size
    limit: Size | None = None


@dataclass(frozen=True)
class ExternalRam:
    """PSRAM in a memory-mapped window, divided into regions that lie one behind the other from its start."""

    memory: str
    size: Size
    regions: dict[str, Region]


@dataclass(frozen=True)
class ExternalPool:
    """A memory pool in a flash slot, read-only, or in a region of the external RAM. size: default is all of it."""

    fname: str
    throughput: Level
    latency: Level
    byte_width: int
    freq_ratio: float
    read_power: float
    write_power: float
    slot: Literal["weights"] | None = None
    region: str | None = None
    size: Size | None = None


@dataclass(frozen=True)
class ProgrammerHints:
    """external_loader: file name of ST's programmer for this NOR. pyocd_target: pyOCD's name of the chip. flash_boot, dev_boot:
    how the boot selectors stand."""

    external_loader: str
    pyocd_target: str
    flash_boot: str
    dev_boot: str


@dataclass(frozen=True)
class _BoardFile:
    name: Name
    title: str
    soc: Name
    clock_profile: str
    max_speed: str
    console: Console
    nor: Nor
    slots: Slots
    programmer: ProgrammerHints
    pools: dict[str, ExternalPool]
    aliases: tuple[str, ...] = ()
    external_ram: ExternalRam | None = None
    pool_sizes: dict[str, Size] = field(default_factory=dict)
    smps_overdrive: str | None = None
    alias: Alias = "secure"


@dataclass(frozen=True)
class Board:
    """max_speed: the fastest clock that every board of this kind can do. smps_overdrive: pin that raises the core supply, such as
    PB12. pool_sizes: bytes of pools that this board makes smaller than the memory they lie in; 0: not to be used.

    alias: which alias of the chip's memories the pools are in. files: all that describe it, board.yaml first. soc_files: the
    chip's alone, its own first.
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    soc: Soc
    clock: Clock
    max_speed: Clock
    smps_overdrive: str | None
    console: Console
    nor: Nor
    nor_commands: NorCommands
    slots: Slots
    programmer: ProgrammerHints
    pools: dict[str, ExternalPool]
    external_ram: ExternalRam | None
    pool_sizes: dict[str, int]
    alias: Alias
    files: tuple[Path, ...]
    soc_files: tuple[Path, ...]

    @property
    def xspi_divider(self) -> int:
        """The source of XSPI2's clock is divided by this, so that the NOR is not faster than it may be."""
        return -(-self.clock.xspi_source_hz // self.nor.max_clock_hz)

    @property
    def nor_clock_hz(self) -> int:
        return self.clock.xspi_source_hz // self.xspi_divider

    def profile(self, name: str) -> Profile:
        """Raises N6-BOARD-009 where the chip has no such profile, N6-BOARD-010 where this board lacks a memory of it."""
        where = f"boards/{self.name}/board.yaml"
        if name not in self.soc.profiles:
            hint = did_you_mean(name, self.profiles())
            raise N6Error("N6-BOARD-009", f"{self.title} has no profile '{name}'", where=where, hint=hint)
        profile = self.soc.profiles[name]
        if lacking := self._lacking(profile):
            what = f"profile '{name}' puts data in {', '.join(lacking)}, a memory that {self.title} lacks"
            raise N6Error("N6-BOARD-010", what, where=where, hint=f"it has {', '.join(self.profiles())}")
        return profile

    def profiles(self) -> list[str]:
        """The profiles whose memories this board has."""
        return [name for name, profile in self.soc.profiles.items() if not self._lacking(profile)]

    def _lacking(self, profile: Profile) -> list[str]:
        known = {*self.soc.pools, *self.pools}
        return [name for name in dict.fromkeys((*profile.activations, profile.weights)) if name not in known]


def board_names(folder: Path = BOARDS) -> list[str]:
    return [path.name for path in files_in(folder) if is_file(path / "board.yaml")]


def load_board(name: str, folder: Path = BOARDS) -> Board:
    """A board by its name or one of its aliases. Raises N6-BOARD-001 with the nearest name, N6-BOARD-00x, N6-YAML-00x."""
    name = name.lower()
    if "/" in name or not is_file(folder / name / "board.yaml"):
        names = board_names(folder)
        aliases = {alias: board for board in names for alias in _board_document(folder, board).load(_BoardFile).aliases}
        if name not in aliases:
            raise N6Error("N6-BOARD-001", f"no board '{name}'", hint=did_you_mean(name, [*names, *aliases]))
        name = aliases[name]
    return read_board(folder / name / "board.yaml")


@remembered
def read_board(path: Path) -> Board:
    """path: of a board.yaml; the chip's description is in the folder soc beside the board's. Raises N6-BOARD-00x, N6-YAML-00x."""
    folder, name = path.parent.parent, path.parent.name
    document = _board_document(folder, name)
    described = document.load(_BoardFile)
    if described.name != name:
        what = f"the board is called '{described.name}', its folder '{name}'"
        raise N6Error("N6-BOARD-012", what, where=document.where("name"), hint="give both the same name")
    soc_path = _described_in(folder / "soc", described.soc, "N6-BOARD-002", "chip", document.where("soc"))
    nor_path = _described_in(
        folder / "nor", described.nor.commands, "N6-BOARD-005", "commands of a NOR", document.where("nor", "commands")
    )
    described_soc = read_soc(soc_path, shown_as=_shown(soc_path, folder))
    soc = described_soc.soc
    _check(described, soc, document)
    return Board(
        name=described.name,
        title=described.title,
        aliases=described.aliases,
        soc=soc,
        clock=soc.clock(described.clock_profile),
        max_speed=soc.clock(described.max_speed),
        smps_overdrive=described.smps_overdrive,
        console=described.console,
        nor=described.nor,
        nor_commands=load_nor_commands(nor_path, _shown(nor_path, folder)),
        slots=described.slots,
        programmer=described.programmer,
        pools=described.pools,
        external_ram=described.external_ram,
        pool_sizes=described.pool_sizes,
        alias=described.alias,
        files=(folder / name / "board.yaml", *described_soc.files, nor_path),
        soc_files=described_soc.files,
    )


def _described_in(folder: Path, name: str, code: str, kind: str, where: str) -> Path:
    path = folder / f"{name}.yaml"
    if not is_file(path):
        known = [each.stem for each in files_in(folder, "*.yaml")]
        raise N6Error(code, f"no {kind} '{name}'", where=where, hint=did_you_mean(name, known))
    return path


def _shown(path: Path, folder: Path) -> str:
    """A path as the user knows it: from the folder that holds boards/."""
    return path.relative_to(folder.parent).as_posix()


def _board_document(folder: Path, name: str) -> Document:
    path = folder / name / "board.yaml"
    return read_document(path, shown_as=_shown(path, folder))


def _check(board: _BoardFile, soc: Soc, document: Document) -> None:
    for key, name in (("clock_profile", board.clock_profile), ("max_speed", board.max_speed)):
        where = document.where(key)
        if name not in soc.clock_profiles:
            hint = did_you_mean(name, soc.clock_profiles)
            raise N6Error("N6-BOARD-003", f"no clock profile '{name}'", where=where, hint=hint)
        if soc.clock_profiles[name].overdrive and board.smps_overdrive is None:
            what = f"clock profile '{name}' needs a raised supply, and no pin is known that raises it"
            raise N6Error("N6-BOARD-003", what, where=where, hint="smps_overdrive: PB12")
    _check_pins(board, soc, document)
    _check_nor(board, soc, document)
    _check_slots(board, soc, document)
    _check_external_ram(board, soc, document)
    _check_pools(board, soc, document)


def _check_external_ram(board: _BoardFile, soc: Soc, document: Document) -> None:
    if board.external_ram is None:
        return
    name, size = board.external_ram.memory, board.external_ram.size
    if name not in soc.memories:
        hint = did_you_mean(name, soc.memories)
        where = document.where("external_ram", "memory")
        raise N6Error("N6-BOARD-011", f"no memory '{name}'", where=where, hint=hint)
    beyond = size - soc.memories[name].size
    if beyond > 0:
        where = document.where("external_ram", "size")
        raise N6Error("N6-BOARD-011", f"{beyond} bytes more than the window {name} has", where=where)


def _check_pools(board: _BoardFile, soc: Soc, document: Document) -> None:
    regions = board.external_ram.regions if board.external_ram else {}
    for name, pool in board.pools.items():
        if name in soc.pools:
            raise N6Error(
                "N6-BOARD-008", f"pool '{name}' is one of the chip's own", where=document.where("pools", name)
            )
        if (pool.slot is None) == (pool.region is None):
            raise N6Error(
                "N6-BOARD-008", f"pool '{name}' needs either 'slot' or 'region'", where=document.where("pools", name)
            )
        if pool.region is not None and pool.region not in regions:
            raise N6Error(
                "N6-BOARD-008",
                f"no region '{pool.region}' of the external RAM",
                where=document.where("pools", name, "region"),
                hint=did_you_mean(pool.region, regions),
            )
    known = {*soc.pools, *board.pools}
    for name in board.pool_sizes:
        if name not in known:
            where = document.where("pool_sizes", name)
            raise N6Error("N6-BOARD-008", f"no pool '{name}'", where=where, hint=did_you_mean(name, known))


def _check_pins(board: _BoardFile, soc: Soc, document: Document) -> None:
    ports = soc.peripherals["GPIO"].instances
    pins = [("console", "tx", board.console.tx), ("console", "rx", board.console.rx)]
    if board.smps_overdrive is not None:
        pins.append(("smps_overdrive", "", board.smps_overdrive))
    for group, key, pin in pins:
        if f"GPIO{pin[1:2]}" not in ports or pin[:1] != "P" or not pin[2:].isdigit() or int(pin[2:]) > 15:
            raise N6Error(
                "N6-BOARD-004",
                f"'{pin}' is not a pin of {soc.name}",
                where=document.where(*filter(None, (group, key))),
                hint="write PE5",
            )
    if board.nor.pins.port not in ports:
        hint = did_you_mean(board.nor.pins.port, ports)
        raise N6Error(
            "N6-BOARD-004", f"no port '{board.nor.pins.port}'", where=document.where("nor", "pins", "port"), hint=hint
        )


def _check_nor(board: _BoardFile, soc: Soc, document: Document) -> None:
    window = soc.memories["XSPI2_WINDOW"]
    nor = board.nor
    if nor.base != window.base:
        raise N6Error(
            "N6-BOARD-005",
            f"0x{nor.base:08X} is not where XSPI2 is mapped, 0x{window.base:08X}",
            where=document.where("nor", "base"),
        )
    if nor.size & (nor.size - 1) or nor.size > window.size:
        raise N6Error(
            "N6-BOARD-005",
            f"{nor.size} bytes: a NOR has a power of two, at most the {window.size} bytes of XSPI2's window",
            where=document.where("nor", "size"),
        )
    if nor.sector & (nor.sector - 1) or not 4096 <= nor.sector <= nor.size:
        raise N6Error(
            "N6-BOARD-005",
            f"{nor.sector} bytes is not a valid erase sector size",
            where=document.where("nor", "sector"),
            hint="4K or 64K",
        )


def _check_slots(board: _BoardFile, soc: Soc, document: Document) -> None:
    nor = board.nor
    for name, slot in board.slots.items():
        where = document.where("slots", name)
        if slot.address < nor.base or slot.end > nor.base + nor.size:
            beyond = max(slot.end - nor.base - nor.size, nor.base - slot.address)
            raise N6Error(
                "N6-BOARD-006",
                f"slot '{name}' reaches {beyond} bytes outside the {nor.size} bytes of the NOR",
                where=where,
            )
        if slot.address % nor.sector or slot.size % nor.sector:
            raise N6Error(
                "N6-BOARD-006", f"slot '{name}' does not begin and end on a sector of {nor.sector} bytes", where=where
            )
    ordered = sorted(board.slots.items(), key=lambda item: item[1].address)
    for (name, slot), (other, behind) in itertools.pairwise(ordered):
        if slot.end > behind.address:
            raise N6Error(
                "N6-BOARD-007",
                f"slot '{name}' overlaps slot '{other}' by {slot.end - behind.address} bytes",
                where=document.where("slots", name),
            )
    if board.slots.fsbl.address != nor.base:
        raise N6Error(
            "N6-BOARD-006",
            "the boot ROM reads the FSBL from the start of the NOR",
            where=document.where("slots", "fsbl"),
        )
    if board.slots.fsbl.size > soc.boot.max_image:
        raise N6Error(
            "N6-BOARD-006",
            f"slot 'fsbl' is {board.slots.fsbl.size - soc.boot.max_image} bytes larger than the boot ROM loads",
            where=document.where("slots", "fsbl", "size"),
        )
