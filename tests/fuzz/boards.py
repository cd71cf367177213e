"""Fuzz targets for board data: flash, console, emulator and programmer output."""

from __future__ import annotations

import inspect
import io
import json
import zlib
from pathlib import Path
from types import ModuleType
from unittest import mock

import numpy as np
from firmware.host_fsbl import record_of
from n6build.base.bounded import WRONG_FIELDS
from n6build.board.flash.appli_update import expected_appli, plan_appli, stored_appli
from n6build.board.flash.command_line import Said
from n6build.board.flash.programmers import openocd, probe_rs, pyocd, stm32cubeprogrammer
from n6build.board.flash.trial_journal import COPY_BYTES, ENTRY, State
from n6build.board.run.console_log import ends_run, read_console
from n6build.board.run.field_readings import readings_of
from n6build.board.run.registers import registers_of
from n6build.board.virtual_board.findings_file import read_findings, unmodelled_of
from n6build.board.virtual_board.npu_record import read_npu_record
from n6build.board.virtual_board.recording import convert_recording
from n6build.board.virtual_board.source_lines import Places
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.stored import artifacts_json, read_stored
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Slot, Trial
from n6build.describe.hardware.boards import load_board
from n6build.judge.compare import worker
from n6build.judge.compare.tensors import Port, ReferenceTensor
from n6build.place.image.boot_header import with_boot_header
from n6build.place.memory_plan.vectors import read_vectors
from n6build.place.reloc.contents import artifacts_of
from n6build.place.reloc.reader import parse_reloc_file
from n6build.place.reloc.reloc_text import as_text, report_json
from n6build.place.reloc.slots import (
    Identity,
    SelfTest,
    name_crc32,
    newer_layout,
    read_trailer,
    slot_chunks,
    stored_bytes,
)
from n6build.place.reloc.verify import ram_of, verify
from n6build.place.trust.release import Part, find_release, release_bytes
from reloc.synthetic import synthetic_model
from reloc.test_slots import Board as SlotBoard
from virtual_board.test_recording import wav

from fuzz.target import Parse, Target, of_file

BOARD = load_board("nucleo-n657")
RAM = ram_of(BOARD)
VERSION = (1, 1, 3, 8)
_CONSOLE = b"""n6 appli start board=nucleo clock=600000000
n6 model network slot=a revision=7 bytes=100 ok
n6 model other slot=b refused N6-FW-049 damaged
n6 run 0 epoch 1 start=1 core=2 end=3
n6 run 0 output 0 00ff
n6 run 0 cycles=1320
n6 fault HardFault
n6 appli error N6-FW-001 text
n6 done runs=1
"""
_FINDINGS = b"""{"kind": "cache", "text": "an uncleaned line", "pc": "0x34000400"}
{"kind": "summary", "ended": "until", "instructions": 12, "pc": "0x34000400", "banks_on": ["AXISRAM1"],
"cleaned": [["0x0", "0x20"]], "unmodelled": [["0x40000000", "0x34000400", 1, 2]]}
""".replace(b',\n"cleaned', b', "cleaned')
_RECORD = {"network": 0, "place": 1, "label": 2, "by": "blob", "instructions": 5}
_UNIT = {"unit": "CONVACC0", "what": "3x3", "macs": 9, "first": "0x34000000", "end": "0x34000100", "frames": 1}


def _field_line(name: bytes, address: int, value: int) -> bytes:
    check = zlib.crc32(name) ^ address ^ (~value & 0xFFFF_FFFF)
    return b"n6 field fsbl %s 0x%08x 0x%08x 0x%08x\n" % (name, address, value, check)


def _console(data: bytes, folder: Path) -> None:
    lines = data.decode("utf-8", "replace").splitlines()
    read_console(lines)
    any(ends_run(line) for line in lines)


def _findings(path: Path) -> None:
    places = Places([])
    _, summary = read_findings(path, places)
    registers_of(BOARD, unmodelled_of(summary, places))


def _model(data: bytes, folder: Path) -> None:
    model = parse_reloc_file(data, "model.bin")
    as_text(model)
    report_json(model, [("model.bin", len(data))])
    verify(model, None, RAM, VERSION)


def _tables(data: bytes, _: Path) -> NetworkArtifacts:
    return artifacts_of(parse_reloc_file(data, "model.bin"), Path("model.bin"), "network")


def _described() -> list[bytes]:
    return [artifacts_json(_tables(synthetic_model(VERSION, tables=True), Path())).encode()]


def _slot_image() -> list[bytes]:
    return [b"".join(slot_chunks([synthetic_model(VERSION)], Identity(name_crc32("keyword"), 1), SelfTest(b"abc", 4)))]


def _slot(data: bytes, folder: Path) -> None:
    """Plan an update of a board whose slot A holds these bytes."""
    board = SlotBoard(folder, parse_reloc_file(synthetic_model(VERSION), "model.bin"))
    board.nor[: len(data[: 1 << 18])] = data[: 1 << 18]
    board.offer(b"abc")
    board.update()


_APPLI_SLOTS = (Slot(0, 2048), Slot(2048, 2048))
_JOURNAL = Slot(4096, 2 * COPY_BYTES)


def _appli_slots() -> list[bytes]:
    """Return a flash with both slots and the journal as the only seed.

    The newest journal record knows the Appli in the first slot.
    """
    program = (0x34001000).to_bytes(4, "little") + (0x34000409).to_bytes(4, "little") + bytes(200)
    image = with_boot_header(program, 0x34000400, BinaryType.SSBL, 0x400)
    stored = stored_appli(image, 3)
    entry = ENTRY.pack(subject=0, image=int.from_bytes(stored[-4:], "little"), state=State.CONFIRMED, starts=1)
    flash = stored.ljust(2048, b"\xff") + image.ljust(2048, b"\xff")
    return [(flash + record_of(1, entry)).ljust(4096 + 2 * COPY_BYTES, b"\xff")]


def _appli_update(data: bytes, folder: Path) -> None:
    def read(address: int, size: int) -> bytes:
        return data[address : address + size].ljust(size, b"\xff")

    wanted = _appli_slots()[0][:1300]
    plan_appli(wanted, _APPLI_SLOTS, Trial(_JOURNAL, 3, 1000, _APPLI_SLOTS[1]), read, "appli_image.bin")
    expected_appli(wanted, _APPLI_SLOTS, read)


def _trailer(data: bytes, folder: Path) -> None:
    read_trailer(data, 100)
    newer_layout(data, 100)
    stored_bytes(data, 100)


def _vectors() -> list[bytes]:
    found = []
    for array in (np.arange(12, dtype=np.int8).reshape(3, 4), np.ones((2, 2), ">f4")):
        file = io.BytesIO()
        np.save(file, array)
        found.append(file.getvalue())
    return found


def _answer() -> list[bytes]:
    values = np.arange(4, dtype=np.int8)
    tensor = ReferenceTensor("t", "Conv", ("x",), (1, 4), True, "int8", 0.5, 1, values)
    port = Port("x", "int8", (1, 4), 0.5, 0)
    return [worker._pack_answer(worker.Answer("", False, ((values,),), (tensor,), (port,), (port,)))]


def _answered(data: bytes, folder: Path) -> None:
    try:
        worker.unpack_answer(data)
    except WRONG_FIELDS:
        # The caller turns these exceptions into an error with the model's name.
        return


def _said_by(programmer: ModuleType) -> Parse:
    def parse(data: bytes, folder: Path) -> None:
        said = Said(data.decode("utf-8", "replace"), 0)
        said.complaint("otherwise")
        with mock.patch.object(programmer, "run_command", return_value=said, create=True):
            programmer._probes(folder)
        programmer._identity(said.output, BOARD)

    return parse


_FIELDS = b"".join(_field_line(name, 0x56000000, 5) for name in (b"BSEC.SR", b"RCC.CR"))
_CUBE = (
    b"ST-LINK SN  : 004100\nBoard Name  : NUCLEO-N657\nDevice ID   : 0x486\nBoard       : NUCLEO-N657\nError: none\n"
)
_PROBE_RS = b"The following debug probes were found:\n[0]: STLink V3 -- 0483:374e:0041 (ST-LINK)\n44001000: 20036486\n"
_PYOCD = b'text {"boards": [{"unique_id": "0041", "board_name": "NUCLEO-N657"}]}'


def _release() -> list[bytes]:
    """Return the beginning of an Appli, with a release of two parts."""
    parts = [Part(bytes([number]) * 32, 16, 8, bytes(32), bytes(32)) for number in range(2)]
    return [bytes(64) + release_bytes(2, parts) + bytes(64)]


BOARDS = (
    Target("console", lambda: [_CONSOLE], _console),
    Target(
        "field registers",
        lambda: [_FIELDS],
        lambda data, _: readings_of(data.decode("utf-8", "replace").splitlines(), BOARD.soc),
    ),
    Target("emulator's findings", lambda: [_FINDINGS], of_file("findings.jsonl", _findings)),
    Target(
        "record of the NPU",
        lambda: [json.dumps({**_RECORD, "units": [_UNIT]}).encode() + b"\n"],
        of_file("r.jsonl", read_npu_record),
    ),
    Target("relocatable model", lambda: [synthetic_model(VERSION)], _model),
    Target("tables of a relocatable model", lambda: [synthetic_model(VERSION, tables=True)], _tables),
    Target("description of a relocatable model's network", _described, of_file("network_artifacts.json", read_stored)),
    Target("model's slot", _slot_image, _slot),
    Target("Appli's slots and the journal", _appli_slots, _appli_update),
    Target("release in an Appli", _release, lambda data, _: find_release(data)),
    Target("trailers", lambda: [bytes(112) + _slot_image()[0][-51:]], _trailer),
    Target(".npy", _vectors, of_file("inputs.npy", inspect.unwrap(read_vectors))),
    Target("answer of an interpreter (.npz)", _answer, _answered),
    Target(
        ".wav",
        lambda: [wav(bytes(64))],
        of_file("a.wav", lambda path: convert_recording(path, path.with_name("heard"))),
    ),
    Target("STM32CubeProgrammer's words", lambda: [_CUBE], _said_by(stm32cubeprogrammer)),
    Target("probe-rs' words", lambda: [_PROBE_RS], _said_by(probe_rs)),
    Target("pyOCD's words", lambda: [_PYOCD], _said_by(pyocd)),
    Target("OpenOCD's words", lambda: [b"0x44000000: 00006486\n"], _said_by(openocd)),
)
