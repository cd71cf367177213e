"""Fuses of the virtual board, and the rehearsal of a product's fuses.

A program can blow them in a file only. A rehearsal needs a typed word.
"""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.board.virtual_board.fuses import FILE_BYTES, with_fuses
from n6build.board.virtual_board.provision import (
    blows_of,
    changes_of,
    text_of,
    write_fuses,
)
from n6build.board.virtual_board.run import NorBoot
from n6build.cli.fuses import fuses
from n6build.describe.hardware.boards import load_board
from n6build.place.image.rom_keys import read_rom_keys, rom_key_digest
from trust.rom_signer import rom_keys

BOARD = load_board("nucleo-n657")
BOOT = NorBoot(Path("nor.bin"), BOARD)
DK = load_board("stm32n6570-dk").fuses
KEY = bytes(range(1, 33))
FLOOR, REVOKED, FIRST = BOARD.soc.security_counter, BOARD.soc.revoked_keys, BOARD.soc.encryption_key


def word(file: Path, number: int) -> int:
    return int.from_bytes(file.read_bytes()[4 * number :][:4], "little")


def typing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_the_fuses_of_a_product_are_listed_and_written_after_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, key = tmp_path / "board.fuses", tmp_path / "board.key"
    key.write_text(KEY.hex())
    typing("blow\n", monkeypatch)
    fuses([str(file), "--counter", "3", "--revoke", "0", "--revoke", "2", "--encrypt-key", str(key)])
    output = capsys.readouterr().out
    assert f"word {FLOOR}  0x00000000 -> 0x00000007  rejects releases with a counter below 3" in output
    assert f"word {REVOKED}  0x00000001 -> 0x00000005  rejects releases of key 2" in output
    # Nobody who looks over a shoulder sees the key.
    assert "04030201" not in output
    assert output.count("a secret") == 8
    assert (word(file, FLOOR), word(file, REVOKED), word(file, FIRST)) == (0b111, 0b101, 0x04030201)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    fuses([str(file), "--counter", "2"])
    assert "nothing to write" in capsys.readouterr().out


@pytest.mark.parametrize("typed", ["", "yes\n", "blow it\n"])
def test_nothing_is_written_without_the_word(typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "board.fuses"
    typing(typed, monkeypatch)
    with pytest.raises(N6Error, match="N6-FUSE-002: 1 fuse word not written"):
        fuses([str(file), "--counter", "1"])
    assert not file.exists()


def test_no_bit_goes_back(tmp_path: Path) -> None:
    file = tmp_path / "board.fuses"
    write_fuses(file, BOARD, changes_of(file, BOARD, blows_of(BOARD, 5, [1], b"")))
    (change,) = changes_of(file, BOARD, blows_of(BOARD, 2, [3], b""))
    assert change.after == 0b1010
    assert text_of(change) == f"word {REVOKED}  0x00000002 -> 0x0000000a  rejects releases of key 3"


def test_a_second_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "board.fuses"
    write_fuses(file, BOARD, changes_of(file, BOARD, blows_of(BOARD, 0, (), KEY)))
    assert changes_of(file, BOARD, blows_of(BOARD, 0, (), KEY)) == []
    with pytest.raises(N6Error, match=f"N6-FUSE-001: has another value in word {FIRST}, which takes one programming"):
        changes_of(file, BOARD, blows_of(BOARD, 0, (), KEY[::-1]))


def test_a_chip_is_closed_with_the_digest_of_eight_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, keys = tmp_path / "board.fuses", rom_keys(tmp_path / "keys")
    with pytest.raises(N6Error, match="N6-FUSE-004: has no keys of the boot ROM"):
        fuses([str(file), "--close"])
    typing("blow\n", monkeypatch)
    fuses([str(file), "--rom-keys", str(keys), "--close"])
    assert "closes the chip: its boot ROM starts signed FSBLs only" in capsys.readouterr().out
    digest = rom_key_digest(read_rom_keys(keys))
    first = BOARD.soc.rom_fuses.key_digest
    assert b"".join(word(file, first + each).to_bytes(4, "big") for each in range(8)) == digest
    assert [word(file, fuse.word) & fuse.value for fuse in BOARD.soc.rom_fuses.closing] == [0x1FF, 0x100000]
    # The words of the digest take one programming.
    with pytest.raises(N6Error, match=f"N6-FUSE-001: has another value in word {first}"):
        fuses([str(file), "--rom-keys", str(shuffled(keys))])


def shuffled(folder: Path) -> Path:
    """Exchange two keys, whose numbers count."""
    (folder / "publicKey00.pem").rename(folder / "publicKey08.pem")
    return folder


@pytest.mark.parametrize("count", [0, 1, 7, 9])
def test_the_boot_rom_has_eight_keys(count: int, tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-FUSE-003: .* the boot ROM has 8 keys"):
        read_rom_keys(rom_keys(tmp_path / "keys", count))


# ST publishes eight keys of an example with their digest, in ROT_Provisioning/BootROM/Keys of STM32Cube N6.
def test_the_digest_is_that_of_st() -> None:
    named = os.environ.get("N6BUILD_ROM_KEYS", "")
    if not named:
        pytest.skip("N6BUILD_ROM_KEYS names no folder of ROT_Provisioning/BootROM/Keys in a checkout of STM32Cube N6")
    assert rom_key_digest(read_rom_keys(Path(named))) == Path(named, "publicKeysHashHashes.bin").read_bytes()


def test_a_new_file_begins_with_the_fuses_of_the_board(tmp_path: Path) -> None:
    board = load_board("stm32n6570-dk")
    file = tmp_path / "board.fuses"
    write_fuses(file, board, changes_of(file, board, blows_of(board, 1, (), b"")))
    assert [word(file, fuse.word) for fuse in board.fuses] == [fuse.value for fuse in board.fuses]
    assert board.fuses


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "board.fuses"
    file.write_bytes(bytes(FILE_BYTES - 1))
    for wrong in (file, tmp_path, tmp_path / "typo" / "board.fuses"):
        with pytest.raises(N6Error, match="N6-VB-011"):
            changes_of(wrong, BOARD, blows_of(BOARD, 1, (), b""))


@pytest.mark.parametrize("words", [["--counter", "33"], ["--revoke", "8"], ["--counter", "x"], []])
def test_impossible_words_are_refused(words: list[str], tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-OPTION-019"):
        fuses([str(tmp_path / "board.fuses"), *words] if words else [])


@pytest.mark.parametrize("name", ["dk", "stm32n6570-dk"])
def test_a_board_lends_the_fuses_of_its_factory(name: str) -> None:
    assert BOARD.fuses == ()
    assert with_fuses(BOOT, name).board.fuses == DK
    assert with_fuses(BOOT, str(Path("/somewhere") / name)).board.fuses == DK


def test_the_other_board_lends_its_own() -> None:
    boot = NorBoot(Path("nor.bin"), load_board("stm32n6570-dk"))
    assert with_fuses(boot, "nucleo").board.fuses == ()
    assert with_fuses(boot, "") == boot


def test_a_file_is_created_by_the_first_blown_fuse_and_then_kept(tmp_path: Path) -> None:
    file = tmp_path / "fuses.bin"
    assert with_fuses(BOOT, str(file)).fuses == file
    file.write_bytes(bytes(FILE_BYTES))
    assert with_fuses(BOOT, str(file)).fuses == file


def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "fuses.bin"
    file.write_bytes(b"short")
    for wrong in (file, tmp_path, tmp_path / "none" / "fuses.bin"):
        with pytest.raises(N6Error, match="N6-VB-011"):
            with_fuses(BOOT, str(wrong))
