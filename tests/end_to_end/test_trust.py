"""Signed applications on the virtual board.

They run, and stop at changes by an attacker who can make checksums.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.board.run.console_log import ends_run
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.fuses import with_key
from n6build.board.virtual_board.provision import blows_of, changes_of, write_fuses
from n6build.board.virtual_board.run import NorBoot, run_nor
from n6build.describe.formats.encryption import APPLI_OFFSET, ENCRYPTION
from n6build.describe.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.describe.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.fuse import Fuse
from n6build.place.memory_plan.plan import MemoryPlan, read_plan
from n6build.place.reloc.model_format import HEADER_FIELDS
from n6build.place.reloc.slots import pack_trailer, read_trailer, trailer_offset
from n6build.place.trust.encryption import read_key
from trust.host_verifier import key_file

from end_to_end.conftest import EQUAL, Project

BOARD = load_board("nucleo-n657")
ERASED = 0xFF
_WORD = struct.Struct("<I")
# A change gets the NOR's content.
Change = Callable[[bytearray], None]


def signed(project: Project, *options: str) -> tuple[str, ...]:
    return ("model=keyword", "probe=virtual", f"trust_key={key_file(project.home)}", *options)


def says(project: Project, change: Change, board: Board = BOARD, more: Change | None = None) -> str:
    """Return the console's output of a board with these changes in its NOR."""
    nor = bytearray((project.root / "build/virtual_board/nucleo-n657/nor.bin").read_bytes())
    change(nor)
    if more:
        more(nor)
    path = project.home / "nor.bin"
    path.write_bytes(nor)
    result = run_nor(find_emulator(board.soc), NorBoot(path, board), programs=[], stop=ends_run)
    assert result.ended == "stopped"
    return "\n".join(result.lines)


def nothing(nor: bytearray) -> None:
    pass


def at(address: int) -> int:
    return address - BOARD.nor.base


def change_model_file(address: int, file_bytes: int, place: int) -> Change:
    """Change one bit of a model or of its weights, with valid trailers."""

    def change(nor: bytearray) -> None:
        start = at(address)
        nor[start + place] ^= 1
        trailer = start + trailer_offset(file_bytes)
        crc, last = (trailer + MODEL_TRAILER.offset_of(name) for name in ("crc32", "trailer_crc32"))
        _WORD.pack_into(nor, crc, zlib.crc32(nor[start : start + file_bytes]))
        _WORD.pack_into(nor, last, zlib.crc32(nor[trailer:last]))

    return change


def change_data(address: int, size: int, place: int) -> Change:
    """Change one bit of weights or test vectors, with a valid trailer."""

    def change(nor: bytearray) -> None:
        start = at(address)
        nor[start + place] ^= 1
        crc = start + trailer_offset(size) + SLOT_TRAILER.offset_of("crc32")
        _WORD.pack_into(nor, crc, zlib.crc32(nor[start : start + size]))

    return change


def lengthen(address: int, file_bytes: int) -> Change:
    """Make a model's table of relocations longer, with a valid trailer behind it."""
    longer = file_bytes + (1 << 20)

    def change(nor: bytearray) -> None:
        start = at(address)
        trailer = read_trailer(bytes(nor[start : start + file_bytes + (1 << 16)]), file_bytes)
        assert trailer is not None
        rel_end = start + HEADER_FIELDS.index("rel_end") * _WORD.size
        _WORD.pack_into(nor, rel_end, _WORD.unpack_from(nor, rel_end)[0] + longer - file_bytes)
        data = bytes(nor[start : start + longer])
        packed = pack_trailer(replace(trailer, bytes=longer, crc32=zlib.crc32(data)))
        end = start + trailer_offset(longer)
        nor[end : end + len(packed) + len(trailer.test.input)] = packed + trailer.test.input

    return change


# The value is a multiple of CRC-32's polynomial, so a change by it leaves the CRC unchanged.
UNSEEN = 0x1DB710641


def change_unseen(address: int, place: int) -> Change:
    """Change some bits of data without changing their CRC."""

    def change(nor: bytearray) -> None:
        start = at(address) + place
        before = int.from_bytes(nor[start : start + 5], "little")
        nor[start : start + 5] = (before ^ UNSEEN).to_bytes(5, "little")

    return change


def vectors_of(plan: MemoryPlan) -> tuple[int, int]:
    vectors = plan.networks[0].vectors
    return vectors.source, vectors.count * vectors.bytes_each


def test_a_signed_model_is_installed_updated_and_otherwise_refused(project: Project) -> None:
    options = signed(project, "loader=reloc", "split=1", "slots=2", "trust=full", "trust_counter=1")
    assert EQUAL in project.done(*options, "flash", "run").output
    again = project.scons(*options, "build")
    assert again.actions == [], again.output
    assert_no_private_key(project)
    # An update keeps its digests when it gets its revision, and so does the unchanged file.
    project.change_one_weight("keyword")
    assert "written to slot b as revision 1" in project.done(*options, "flash-model").output
    folder = project.root / "build/nucleo-n657-trust-full/keyword-reloc"
    plan = read_plan(folder / "memory_plan.json")
    a, b = plan.models[0].slots
    model, params = ((folder / "network_rel" / f"network_rel{part}.bin").stat().st_size for part in ("", "_params"))
    assert "slot=b revision=1" in says(project, nothing)
    for change in (
        change_model_file(b.file, model, model // 2),
        change_model_file(b.params, params, params // 2),
        copy(a.params, b.params, params + (1 << 12)),
    ):
        refused = says(project, change)
        assert "slot=b refused N6-FW-095" in refused, refused
        # The model in slot A is of the older release.
        assert "slot=a refused N6-FW-095" in refused, refused
        assert "error N6-FW-056" in refused
    assert "slot=b refused N6-FW-094" in says(project, lengthen(b.file, model))
    assert "error N6-FW-095" in says(project, change_data(*vectors_of(plan), 3))
    # The release's counter is enough for a board that has counted to 1, but not for one that has counted to 2.
    assert "slot=b revision=1" in says(project, nothing, counted(1))
    assert "n6 fsbl error N6-FW-093" in says(project, nothing, counted(2))


def copy(source: int, destination: int, size: int) -> Change:
    """Copy a part of the older release over the same part of the newer one."""

    def change(nor: bytearray) -> None:
        nor[at(destination) : at(destination) + size] = nor[at(source) : at(source) + size]

    return change


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_board_changes_from_one_release_to_the_next_with_its_appli(stride: int, project: Project) -> None:
    """Parts of two releases never run together, whatever is programmed."""
    options = signed(project, "loader=reloc", "slots=2", "trial=on", "trust=full")
    nor = project.root / "build/virtual_board/nucleo-n657/nor.bin"
    boards: list[bytes] = []
    for model in ("a", "b", "a"):
        if boards:
            project.change_one_weight("keyword", len(boards))
        done = project.scons(*options, "flash", "run")
        assert "n6 trial confirmed" in done.output, done.output
        assert f"slot={model} revision={len(boards)}" in done.output
        boards.append(nor.read_bytes())
    _, older, newer = boards
    assert BOARD.trial is not None and BOARD.trial.appli is not None
    applis = [slice(at(each.address), at(each.end)) for each in (BOARD.slots.appli, BOARD.trial.appli)]
    # The last release is in the slots A. It is interrupted before its Appli, and then only its Appli arrives.
    unfinished = bytearray(newer)
    unfinished[applis[0]] = older[applis[0]]
    unfinished[journal_of()] = older[journal_of()]
    before = says(project, put(BOARD.nor.base, bytes(unfinished)))
    assert "n6 model keyword slot=a refused N6-FW-095 altered, or of another release" in before, before
    assert "slot=b revision=1" in before
    for state, is_whole in [*interrupted(older, newer)][::stride]:
        said = says(project, put(BOARD.nor.base, state))
        assert ("slot=a revision=2" if is_whole else "slot=b revision=1") in said, said
        assert "n6 done" in said, said
    alone = bytearray(older)
    alone[applis[0]] = newer[applis[0]]
    rejected = says(project, put(BOARD.nor.base, bytes(alone)))
    assert rejected.count("refused N6-FW-095") == 2, rejected
    assert "error N6-FW-056" in rejected


def interrupted(older: bytes, newer: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the board during an update, and whether that is complete.

    The sectors of the model come before those of the Appli. Each is half erased, erased, half programmed,
    almost done, and done.
    """
    size, journal = BOARD.nor.sector, journal_of()
    differ = [
        start
        for start in range(0, len(older), size)
        if older[start : start + size] != newer[start : start + size] and not journal.start <= start < journal.stop
    ]
    models_first = sorted(differ, key=lambda start: (start < at(BOARD.slots.weights.address), start))
    assert len(models_first) >= 2
    board, half = bytearray(older), size // 2
    for start in models_first:
        before, after = older[start : start + size], newer[start : start + size]
        # The last byte that differs from erased flash.
        end = len(after.rstrip(b"\xff"))
        for state in (
            bytes([ERASED]) * half + before[half:],
            bytes([ERASED]) * size,
            after[: end // 2].ljust(size, b"\xff"),
            after[: end - 1].ljust(size, b"\xff"),
            after,
        ):
            board[start : start + size] = state
            yield bytes(board), state == after and start == models_first[-1]


def journal_of() -> slice:
    assert BOARD.trial is not None
    return slice(at(BOARD.trial.journal.address), at(BOARD.trial.journal.end))


def counted(number: int) -> Board:
    return replace(BOARD, fuses=(*BOARD.fuses, Fuse(BOARD.soc.security_counter, (1 << number) - 1)))


def assert_no_private_key(project: Project) -> None:
    """Check that no file of scons has the private key, as text or as bytes."""
    pem = key_file(project.home).read_text()
    secret = base64.b64decode("".join(line for line in pem.splitlines() if "-----" not in line))
    number = (18).to_bytes(32, "big")
    assert number in secret
    for folder, _, names in os.walk(project.root):
        for name in names:
            data = (Path(folder) / name).read_bytes()
            assert number not in data
            assert pem.splitlines()[1].encode() not in data


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["extflash", "noextmem"])
def test_swapped_weights_of_a_linked_network_are_refused_by_full_alone(profile: str, project: Project) -> None:
    for level in ("full", "code"):
        options = signed(project, f"profile={profile}", f"trust={level}")
        assert EQUAL in project.done(*options, "flash", "run").output
        suffix = "" if profile == "extflash" else f"-{profile}"
        plan = read_plan(project.root / f"build/nucleo-n657-trust-{level}/keyword{suffix}/memory_plan.json")
        image = plan.images[0]
        assert "error N6-FW-095" in says(project, change_data(image.source, image.bytes, image.bytes // 2))
        unseen = says(project, change_unseen(image.source, image.bytes // 2))
        assert ("error N6-FW-095" in unseen) == (level == "full"), unseen


def secret_file(project: Project, name: str) -> Path:
    secret = project.home / name
    secret.write_text(hashlib.sha256(name.encode()).hexdigest())
    secret.chmod(0o600)
    return secret


def test_what_is_copied_from_flash_is_encrypted_there(project: Project) -> None:
    secret = secret_file(project, "secret.key")
    options = signed(project, "trust=full", "profile=noextmem", f"encrypt_key={secret}")
    result = project.scons(*options, "flash", "run")
    assert EQUAL in result.output, result.output
    assert "in the clear         fsbl_image.bin, vectors.bin\n" in result.output
    assert project.scons(*options, "flash").actions == []
    # Nothing of program and weights can be read in the flash.
    own = project.root / "build/nucleo-n657-trust-full-encrypted/keyword-noextmem"
    nor = (project.root / "build/virtual_board/nucleo-n657/nor.bin").read_bytes()
    for hidden in (own / "unsigned/appli_image.bin", own / "network/network_atonbuf.AXISRAM5.raw"):
        content = hidden.read_bytes()
        pieces = [content[place : place + 16] for place in range(0x400, len(content), 64)]
        # The FSBL, in the clear, has some functions of the Appli.
        assert not any(piece in nor[at(BOARD.slots.appli.address) :] for piece in pieces if len(set(piece)) > 4)
    assert (own / "vectors.bin").read_bytes()[:64] in nor
    # The same, on boards with another key or none, and with altered records.
    image = read_plan(own / "memory_plan.json").images[0]
    key = read_key(secret)
    keyed = with_key(NorBoot(Path("nor.bin"), BOARD), key).board
    assert "n6 done" in says(project, nothing, keyed)
    assert "n6 fsbl error N6-FW-097" in says(project, nothing)
    assert "n6 fsbl error N6-FW-098" in says(
        project, nothing, with_key(NorBoot(Path("nor.bin"), BOARD), key[::-1]).board
    )
    nonce = ENCRYPTION.offset_of("nonce")
    of_appli = BOARD.slots.appli.address + APPLI_OFFSET + nonce
    of_weights = image.source + trailer_offset(image.bytes) + SLOT_TRAILER.size + nonce
    # The FSBL decrypts to something else, which has no entry or no valid signature.
    assert re.search("n6 fsbl error N6-FW-(014|091)", says(project, flip(of_appli), keyed))
    assert "error N6-FW-095" in says(project, flip(of_weights), keyed)
    # A board with the fuses of the product, which rejects releases below 2.
    fuses = project.home / "product.fuses"
    write_fuses(fuses, BOARD, changes_of(fuses, BOARD, blows_of(BOARD, 2, (), key)))
    refused = project.scons(*options, f"fuses={fuses}", "run").output
    assert "n6 fsbl error N6-FW-093" in refused
    assert EQUAL in project.scons(*options, f"fuses={fuses}", "trust_counter=2", "flash", "run").output
    # Such an image starts only in its own build.
    (project.root / "copied.bin").write_bytes((own / "appli_image.bin").read_bytes())
    assert "error N6-TRUST-014" in project.scons("appli=copied.bin").output
    # Weights that the network reads from flash stay readable, and the build tells so.
    output = project.scons(*options, "profile=extflash").output
    assert "Warning weights_xSPI2.bin, read from flash by the network, and so not encrypted" in output


def flip(address: int) -> Change:
    """Flip one bit."""

    def change(nor: bytearray) -> None:
        nor[at(address)] ^= 1

    return change


def test_a_key_that_encrypts_nothing_is_refused(project: Project) -> None:
    secret = secret_file(project, "secret.key")
    options = signed(project, "trust=code", f"encrypt_key={secret}")
    assert "error N6-TRUST-013" in project.scons(*options, "loader=reloc").output
    assert "error N6-MCUBOOT-005" in project.scons(*options, "mcuboot").output
    assert "error N6-TRUST-005" in project.scons("model=keyword", f"encrypt_key={secret}").output
    secret.write_text("00" * 32)
    assert "error N6-TRUST-012" in project.scons(*options).output
    assert "error N6-FILE-002" in project.scons(*options[:-1], "encrypt_key=missing.key").output


def add_variant(project: Project) -> None:
    """Add a model with the same code, another weight and its own name."""
    shutil.copytree(project.root / "models/keyword", project.root / "models/variant")
    (project.root / "models/variant/keyword.tflite").rename(project.root / "models/variant/variant.tflite")
    project.replace("models/variant/model.yaml", "name: keyword", "name: variant")
    project.replace("models/variant/model.yaml", "file: keyword.tflite", "file: variant.tflite")
    project.change_one_weight("variant")


def put(address: int, data: bytes) -> Change:
    """Write to the flash, as an attacker does who can."""

    def change(nor: bytearray) -> None:
        nor[at(address) : at(address) + len(data)] = data

    return change


def test_weights_of_a_model_with_equal_code_are_refused(project: Project) -> None:
    add_variant(project)
    options = signed(project, "trust=full", "model=variant")
    project.done(*options, "build")
    assert EQUAL in project.done(*options, "model=keyword", "flash", "run").output
    own, other = (project.root / f"build/nucleo-n657-trust-full/{name}" for name in ("keyword", "variant"))
    assert code_of(own) == code_of(other)
    plan = read_plan(own / "memory_plan.json")
    weights = put(plan.images[0].source, (other / "weights_xSPI2.bin").read_bytes())
    assert "error N6-FW-095" in says(project, weights)
    # New weights of the same model are another release, with its own Appli.
    project.change_one_weight("keyword")
    project.done(*options, "model=keyword", "build")
    update = put(plan.images[0].source, (own / "weights_xSPI2.bin").read_bytes())
    assert "error N6-FW-095" in says(project, update)
    appli = put(BOARD.slots.appli.address, (own / "appli_image.bin").read_bytes())
    updated = says(project, update, more=appli)
    assert "n6 done" in updated, updated
    # If a command signs with the same key, only the image is made again.
    key = project.home / "board.pub.pem"
    subprocess.run(["openssl", "pkey", "-in", key_file(project.home), "-pubout", "-out", key], check=True)
    command = f"openssl dgst -sha256 -sign {key_file(project.home)}"
    result = project.scons(
        "model=keyword", "probe=virtual", "trust=full", f"trust_key={key}", f"sign_with={command}", "run"
    )
    assert EQUAL in result.output, result.output
    assert [action for action in result.actions if not action.startswith(("Flash", "Run", "Image", "Manifest"))] == [
        "Sign keyword/appli_image.bin"
    ]
    # A board with two keys gets its next release from the second one, and then refuses the first.
    changed = (f"trust_keys={key_file(project.home)},{key_file(project.home, 19)}", "flash", "run")
    assert EQUAL in project.scons(*options, "model=keyword", *changed).output
    revoked = replace(BOARD, fuses=(*BOARD.fuses, Fuse(BOARD.soc.revoked_keys, 0b1)))
    assert "n6 fsbl error N6-FW-096" in says(project, nothing, revoked)
    options = options[0], options[1], f"trust_key={key_file(project.home, 19)}", *options[3:]
    result = project.scons(*options, "model=keyword", *changed)
    assert EQUAL in result.output
    assert [action for action in result.actions if not action.startswith(("Flash", "Run", "Image", "Manifest"))] == [
        "Sign keyword/appli_image.bin"
    ]
    assert "n6 done" in says(project, nothing, revoked)
    # The same key signs the Appli for MCUboot.
    project.done(*options, "model=keyword", changed[0], "mcuboot", "mcuboot_version=1.2.3")
    image = own / "appli_mcuboot.bin"
    imgtool = Path(sys.executable).with_name("imgtool")
    verify = [str(imgtool), "verify", "--key", str(key_file(project.home, 19)), str(image)]
    verified = subprocess.run(verify, capture_output=True, text=True, check=True).stdout
    assert "Image version: 1.2.3+0" in verified


def code_of(folder: Path) -> bytes:
    """Return network.c without comments, which name the model."""
    return re.sub(rb"/\*.*?\*/", b"", (folder / "network/network.c").read_bytes(), flags=re.DOTALL)
