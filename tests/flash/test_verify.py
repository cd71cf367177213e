"""Reading a board back: differences are named, and flash repairs them.

No other memory is read or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.board.flash.program import carry_out
from n6build.board.flash.receipt import Receipt, still_holds, write_receipt
from n6build.board.flash.record import doubt, forget, read_record
from n6build.board.flash.survey import doubted_if_it_fails
from n6build.board.flash.verify import Part, compared, raise_if_different
from n6build.board.flash.virtual import VirtualProgrammer

from flash.test_flash import BASE, SECTOR, SIZE, FailingNor, flash, flash_plan, lacking, manifest_of

PARTS = {BASE: b"fsbl" * 1500, BASE + 0x10000: b"appli" * 4000, BASE + 0x40000: bytes(range(256)) * 64}


def parts() -> list[Part]:
    return [Part(f"at{address:x}", address, data) for address, data in PARTS.items()]


@given(st.sets(st.integers(0, SIZE - 1), max_size=12))
def test_every_sector_with_a_wrong_byte_is_named_and_no_other(offsets: set[int]) -> None:
    memory = bytearray(b"\xff" * SIZE)
    for address, data in PARTS.items():
        memory[address - BASE :][: len(data)] = data
        memory[address - BASE : address - BASE + len(data)] = data
    for offset in offsets:
        memory[offset] ^= 0x5A
    asked: list[Span] = []

    def read(spans: Sequence[Span]) -> list[bytes]:
        asked.extend(spans)
        return [bytes(memory[span.address - BASE :][: span.size]) for span in spans]

    sectors, different = compared(parts(), SECTOR, read)
    wrong = [BASE + each for each in offsets if any(0 <= BASE + each - at < len(data) for at, data in PARTS.items())]
    assert sectors == sum(-(-len(data) // SECTOR) for data in PARTS.values())
    assert {each.address for each in different} == {each // SECTOR * SECTOR for each in wrong}
    assert sum(each.wrong for each in different) == len(wrong)
    assert {each.first for each in different} <= set(wrong)
    assert [(span.address, span.size) for span in asked] == [(at, len(data)) for at, data in PARTS.items()]


def test_what_differs_is_said_by_address_slot_and_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    held = bytearray(PARTS[BASE + 0x10000])
    held[SECTOR + 7] ^= 0xFF
    part = Part("appli", BASE + 0x10000, PARTS[BASE + 0x10000])
    _, different = compared([part], SECTOR, lambda _: [bytes(held)])
    with pytest.raises(
        N6Error, match="N6-FLASH-024: 1 of 5 sectors differ from the flash manifest, 1 byte, slot appli"
    ):
        raise_if_different(different, 5, "here")
    assert "0x70011000 in slot appli: 1 byte, 0x70011007 is 0x" in capsys.readouterr().out


def test_many_sectors_are_not_many_lines(capsys: pytest.CaptureFixture[str]) -> None:
    part = Part("weights", BASE, bytes(100 * SECTOR))
    _, different = compared([part], SECTOR, lambda _: [b"\1" * 100 * SECTOR])
    with pytest.raises(N6Error, match="100 of 100 sectors differ"):
        raise_if_different(different, 100, "here")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 17
    assert "84 sectors more" in lines[-1]


def test_a_byte_that_no_witness_sees_is_repaired_after_a_run_that_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nor = FailingNor(tmp_path)
    manifest = flash(nor, PARTS, tmp_path)
    nor.memory[0x40000 + SECTOR + 9] ^= 1
    assert flash_plan(manifest, tmp_path, nor).lacking == ()
    for id, is_doubted in (("N6-LINK-001", False), ("N6-FW-023", True)):
        with pytest.raises(N6Error), doubted_if_it_fails(nor.record, "test"):
            raise N6Error(id, "the image in slot xSPI2 is damaged")
        assert bool(read_record(nor.record, "test").doubt) is is_doubted
    plan = flash_plan(manifest, tmp_path, nor)
    assert "its last run ended with N6-FW-023" in capsys.readouterr().out
    assert [sector.address for sector in plan.lacking] == [BASE + 0x40000 + SECTOR]
    carry_out(plan, nor)
    assert read_record(nor.record, "test").doubt == ""
    assert nor.memory[0x40000:][: len(PARTS[BASE + 0x40000])] == PARTS[BASE + 0x40000]


def test_what_verify_has_found_is_programmed_again(tmp_path: Path) -> None:
    nor = FailingNor(tmp_path)
    manifest = flash(nor, PARTS, tmp_path)
    nor.memory[0x40000 + SECTOR + 9] ^= 1
    _, different = compared(parts(), SECTOR, nor.read)
    forget(nor.record, "test", [Span(each.address, SECTOR) for each in different])
    assert lacking(manifest, tmp_path, nor) == [BASE + 0x40000 + SECTOR]


def test_a_build_notices_that_the_virtual_nor_has_been_written_to_or_is_doubted(tmp_path: Path) -> None:
    virtual = VirtualProgrammer(tmp_path / "board", BASE, SIZE)
    manifest = manifest_of(tmp_path, PARTS)
    receipt = tmp_path / "receipt.json"

    def flashed() -> None:
        plan = flash_plan(manifest, tmp_path, virtual)
        carry_out(plan, virtual)
        sectors = {sector.address: sector.sha256 for sector in plan.wanted}
        write_receipt(receipt, Receipt("test", "virtual", (), sectors))

    def holds() -> bool:
        return still_holds(receipt, virtual.record, virtual.nor)

    flashed()
    assert holds()
    content = bytearray(virtual.nor.read_bytes())
    content[0x40000 + SECTOR + 9] ^= 1
    virtual.nor.write_bytes(content)
    assert not holds()
    assert lacking(manifest, tmp_path, virtual) == [BASE + 0x40000 + SECTOR]
    flashed()
    assert holds()
    doubt(virtual.record, "test", "its last run ended with N6-FW-023")
    assert not holds()
    flashed()
    assert holds()
