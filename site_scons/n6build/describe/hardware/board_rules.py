"""Rules for board.yaml beyond the types of its values."""

from __future__ import annotations

import itertools

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.yaml_schema import Document
from n6build.describe.hardware.board import BoardFile, ExternalRam, Psram
from n6build.describe.hardware.pins import PortPins, SelectPins
from n6build.describe.hardware.psram import PsramCommands
from n6build.describe.hardware.soc import Soc

_PSRAM_WINDOW = "XSPI1_WINDOW"
# The lines are chip select, clock and a strobe for each eight data lines.
_PSRAM_CONTROL_LINES = 4
_PSRAM_DATA_LINES = 16


def check_board(board: BoardFile, soc: Soc, document: Document) -> None:
    """Check that a board fits its chip and that its parts fit together.

    Raises:
        N6Error: N6-BOARD-003 to N6-BOARD-008 and N6-BOARD-011, with the line of the wrong value.
    """
    clocks = (("max_speed", board.max_speed), ("clock_profile", board.clock_profile or board.max_speed))
    for key, name in clocks:
        where = document.where(key)
        if name not in soc.clock_profiles:
            hint = did_you_mean(name, soc.clock_profiles)
            raise N6Error("N6-BOARD-003", f"no clock profile '{name}'", where=where, hint=hint)
        if soc.clock_profiles[name].overdrive and board.smps_overdrive is None:
            what = f"clock profile '{name}' needs a raised supply, but board.yaml names no pin for it"
            raise N6Error(
                "N6-BOARD-003",
                what,
                where=where,
                hint="add the pin that raises the supply, for example smps_overdrive: PB12",
            )
    _check_pins(board, soc, document)
    _check_nor(board, soc, document)
    _check_slots(board, soc, document)
    _check_external_ram(board, soc, document)
    _check_file_heap(board, soc, document)
    _check_pools(board, soc, document)


def _check_file_heap(board: BoardFile, soc: Soc, document: Document) -> None:
    heap = board.file_heap
    if heap is None:
        return
    if heap.memory not in soc.memories:
        where = document.where("file_heap", "memory")
        hint = did_you_mean(heap.memory, soc.memories)
        raise N6Error("N6-BOARD-011", f"no memory '{heap.memory}'", where=where, hint=hint)
    beyond = heap.size - soc.memories[heap.memory].size
    if beyond > 0:
        where = document.where("file_heap", "size")
        raise N6Error("N6-BOARD-011", f"is {beyond} bytes larger than {heap.memory}", where=where)


def _check_external_ram(board: BoardFile, soc: Soc, document: Document) -> None:
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
        raise N6Error("N6-BOARD-011", f"is {beyond} bytes larger than the window {name}", where=where)
    if board.external_ram.psram is not None:
        _check_psram(board.external_ram, board.external_ram.psram, soc, document)


def _check_psram(ram: ExternalRam, psram: Psram, soc: Soc, document: Document) -> None:
    if ram.memory != _PSRAM_WINDOW:
        what = f"the firmware maps a PSRAM into {_PSRAM_WINDOW} only"
        hint = "remove 'psram' if your own program maps the external RAM"
        raise N6Error("N6-BOARD-011", what, where=document.where("external_ram", "memory"), hint=hint)
    if ram.size & (ram.size - 1):
        where = document.where("external_ram", "size")
        raise N6Error("N6-BOARD-011", f"{ram.size} bytes: the size of a PSRAM must be a power of two", where=where)
    for key, pins, lines in (("control", psram.control, _PSRAM_CONTROL_LINES), ("data", psram.data, _PSRAM_DATA_LINES)):
        keys = ("external_ram", "psram", key)
        _check_port(pins, soc, document, *keys)
        if len(set(pins.lines)) != lines:
            what = f"{len(set(pins.lines))} different lines, but a sixteen-line PSRAM has {lines} of this kind"
            raise N6Error("N6-BOARD-004", what, where=document.where(*keys, "lines"))


def check_psram_size(board: BoardFile, commands: PsramCommands, document: Document) -> None:
    """Check that a part of the PSRAM family has the size of the external RAM.

    Raises:
        N6Error: N6-BOARD-011 if no part has this size.
    """
    assert board.external_ram is not None
    sizes = sorted({size for size in commands.density.sizes if size})
    if board.external_ram.size not in sizes:
        what = f"no part of family {commands.name} has {board.external_ram.size} bytes"
        hint = f"use one of: {', '.join(f'{size >> 20}M' for size in sizes)}"
        raise N6Error("N6-BOARD-011", what, where=document.where("external_ram", "size"), hint=hint)


def _check_pools(board: BoardFile, soc: Soc, document: Document) -> None:
    regions = board.external_ram.regions if board.external_ram else {}
    for name, pool in board.pools.items():
        if name in soc.pools:
            raise N6Error(
                "N6-BOARD-008", f"pool '{name}' is already a pool of the chip", where=document.where("pools", name)
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


def _check_pins(board: BoardFile, soc: Soc, document: Document) -> None:
    ports = soc.peripherals["GPIO"].instances
    pins = [("console", "tx", board.console.tx), ("console", "rx", board.console.rx)]
    if board.smps_overdrive is not None:
        pins.append(("smps_overdrive", "", board.smps_overdrive))
    if camera := board.camera:
        pins += [("camera", key, getattr(camera, key)) for key in ("scl", "sda", "reset", "enable")]
        if camera.part not in {device.part for device in board.i2c}:
            hint = f"add {{bus: {camera.bus}, part: {camera.part}}} to i2c"
            what = f"no device of i2c is '{camera.part}'"
            raise N6Error("N6-BOARD-004", what, where=document.where("camera", "part"), hint=hint)
    if display := board.display:
        pins += [("display", "high", pin) for pin in display.high]
        for each in display.pins:
            if each.port not in ports:
                where, hint = document.where("display", "pins"), did_you_mean(each.port, ports)
                raise N6Error("N6-BOARD-004", f"no port '{each.port}'", where=where, hint=hint)
    if board.recovery is not None:
        pins.append(("recovery", "pin", board.recovery.pin))
    for group, key, pin in pins:
        if f"GPIO{pin[1:2]}" not in ports or pin[:1] != "P" or not pin[2:].isdigit() or int(pin[2:]) > 15:
            raise N6Error(
                "N6-BOARD-004",
                f"'{pin}' is not a pin of {soc.name}",
                where=document.where(*filter(None, (group, key))),
                hint="write a pin such as PE5",
            )
    _check_port(board.nor.pins, soc, document, "nor", "pins")


def _check_port(pins: PortPins, soc: Soc, document: Document, *keys: str) -> None:
    ports = soc.peripherals["GPIO"].instances
    if pins.port not in ports:
        where = document.where(*keys, "port")
        raise N6Error("N6-BOARD-004", f"no port '{pins.port}'", where=where, hint=did_you_mean(pins.port, ports))
    if isinstance(pins, SelectPins) and pins.chip_select not in pins.lines:
        what = f"chip select {pins.chip_select} is not one of the lines"
        raise N6Error("N6-BOARD-004", what, where=document.where(*keys, "chip_select"))


def _check_nor(board: BoardFile, soc: Soc, document: Document) -> None:
    window = soc.memories["XSPI2_WINDOW"]
    nor = board.nor
    if nor.base != window.base:
        raise N6Error(
            "N6-BOARD-005",
            f"0x{nor.base:08X} is not the address of XSPI2's window, 0x{window.base:08X}",
            where=document.where("nor", "base"),
        )
    if nor.size & (nor.size - 1) or nor.size > window.size:
        raise N6Error(
            "N6-BOARD-005",
            f"{nor.size} bytes: must be a power of two, at most the {window.size} bytes of XSPI2's window",
            where=document.where("nor", "size"),
        )
    if nor.sector & (nor.sector - 1) or not 4096 <= nor.sector <= nor.size:
        raise N6Error(
            "N6-BOARD-005",
            f"{nor.sector} bytes is not a valid erase sector size",
            where=document.where("nor", "sector"),
            hint="write 4K or 64K",
        )


def _check_slots(board: BoardFile, soc: Soc, document: Document) -> None:
    nor, trial = board.nor, board.trial
    slots = {name: (slot, document.where("slots", name)) for name, slot in board.slots.items()}
    if trial:
        slots["journal"] = trial.journal, document.where("trial", "journal")
    if trial and trial.appli:
        slots["second appli"] = trial.appli, document.where("trial", "appli")
    for name, (slot, where) in slots.items():
        if slot.address < nor.base or slot.end > nor.base + nor.size:
            beyond = max(slot.end - nor.base - nor.size, nor.base - slot.address)
            what = f"slot '{name}' reaches {beyond} bytes outside the {nor.size} bytes of the NOR"
            raise N6Error("N6-BOARD-006", what, where=where)
        if slot.address % nor.sector or slot.size % nor.sector:
            what = f"slot '{name}' does not begin and end on a boundary of {nor.sector}-byte sectors"
            raise N6Error("N6-BOARD-006", what, where=where)
    if trial and trial.journal.size < 2 * nor.sector:
        what = f"the journal of trials needs two sectors of {nor.sector} bytes"
        raise N6Error("N6-BOARD-006", what, where=document.where("trial", "journal"))
    ordered = sorted(slots.items(), key=lambda item: item[1][0].address)
    for (name, (slot, where)), (other, (behind, _)) in itertools.pairwise(ordered):
        if slot.end > behind.address:
            what = f"slot '{name}' overlaps slot '{other}' by {slot.end - behind.address} bytes"
            raise N6Error("N6-BOARD-007", what, where=where)
    if trial and trial.appli and trial.appli.size != board.slots.appli.size:
        what = (
            f"has {trial.appli.size} bytes, but slot 'appli' has {board.slots.appli.size}: both slots must have "
            f"the same size"
        )
        raise N6Error("N6-BOARD-006", what, where=document.where("trial", "appli"))
    if board.slots.fsbl.address != nor.base:
        raise N6Error(
            "N6-BOARD-006",
            "slot 'fsbl' must begin at the start of the NOR, where the boot ROM reads it",
            where=document.where("slots", "fsbl"),
        )
    if board.slots.fsbl.size > soc.boot.max_image:
        raise N6Error(
            "N6-BOARD-006",
            f"slot 'fsbl' is {board.slots.fsbl.size - soc.boot.max_image} bytes larger than the boot ROM can load",
            where=document.where("slots", "fsbl", "size"),
        )
