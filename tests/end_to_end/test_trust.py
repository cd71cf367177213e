"""Signed applications on the virtual board.

They run, and stop at changes by an attacker who can make checksums.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.board.run.console_log import ends_run
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot, run_nor
from n6build.describe.formats.model_trailer import TRAILER as MODEL_TRAILER
from n6build.describe.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.describe.formats.trust_claim import CLAIM
from n6build.describe.hardware.board import Board, Fuse
from n6build.describe.hardware.boards import load_board
from n6build.place.memory_plan.plan import MemoryPlan, read_plan
from n6build.place.reloc.model_format import HEADER_FIELDS
from n6build.place.reloc.slots import pack_trailer, read_trailer, trailer_offset
from trust.host_verifier import key_file

from end_to_end.conftest import Project

BOARD = load_board("nucleo-n657")
EQUAL = "10 of 10 outputs equal the reference interpreter bit for bit"
_WORD = struct.Struct("<I")
# A change gets the NOR's content.
Change = Callable[[bytearray], None]


def signed(project: Project, *options: str) -> tuple[str, ...]:
    return ("model=keyword", "probe=virtual", f"trust_key={key_file(project.home)}", *options)


def says(project: Project, change: Change, board: Board = BOARD) -> str:
    """Return the console's output of a board with this change in its NOR."""
    nor = bytearray((project.root / "build/virtual_board/nucleo-n657/nor.bin").read_bytes())
    change(nor)
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
    options = signed(project, "loader=reloc", "split=1", "slots=2", "trust=full", "trust_counter=model:1")
    first = project.scons(*options, "flash", "run")
    assert EQUAL in first.output, first.output
    again = project.scons(*options, "build")
    assert again.actions == [], again.output
    assert_no_private_key(project)
    # An update keeps its signature when it gets its revision, and so does the unchanged file.
    project.change_one_weight("keyword")
    update = project.scons(*options, "flash-model")
    assert "written to slot b as revision 1" in update.output, update.output
    folder = project.root / "build/nucleo-n657-trust-full/keyword-reloc"
    plan = read_plan(folder / "memory_plan.json")
    _, b = plan.models[0].slots
    model, params = ((folder / "network_rel" / f"network_rel{part}.bin").stat().st_size for part in ("", "_params"))
    assert "slot=b revision=1" in says(project, nothing)
    for change in (change_model_file(b.file, model, model // 2), change_model_file(b.params, params, params // 2)):
        refused = says(project, change)
        assert "slot=b refused N6-FW-091" in refused, refused
        assert "slot=a revision=0" in refused
    assert "slot=b refused N6-FW-094" in says(project, lengthen(b.file, model))
    assert "error N6-FW-091" in says(project, change_data(*vectors_of(plan), 3))
    # The image's counter is enough for a board that has counted to 1, but not for one that has counted to 2.
    assert "slot=b revision=1" in says(project, nothing, counted(1))
    newer = says(project, nothing, counted(2))
    assert len(re.findall(r"slot=[ab] refused N6-FW-093", newer)) == 2
    assert "error N6-FW-056" in newer


def counted(number: int) -> Board:
    return replace(BOARD, fuses=(*BOARD.fuses, Fuse(BOARD.soc.security_counters.model, (1 << number) - 1)))


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
        result = project.scons(*options, "flash", "run")
        assert EQUAL in result.output, result.output
        suffix = "" if profile == "extflash" else f"-{profile}"
        plan = read_plan(project.root / f"build/nucleo-n657-trust-{level}/keyword{suffix}/memory_plan.json")
        image = plan.images[0]
        assert "error N6-FW-091" in says(project, change_data(image.source, image.bytes, image.bytes // 2))
        unseen = says(project, change_unseen(image.source, image.bytes // 2))
        assert ("error N6-FW-091" in unseen) == (level == "full"), unseen
        # A claim names the kind of its data on both levels, so a claim of other data is refused.
        moved = says(project, move_claim(plan))
        assert "error N6-FW-091" in moved, moved


def move_claim(plan: MemoryPlan) -> Change:
    """Copy the claim of the test vectors behind the weights."""
    source, size = vectors_of(plan)
    image = plan.images[0]

    def change(nor: bytearray) -> None:
        start = at(source) + trailer_offset(size) + SLOT_TRAILER.size
        end = at(image.source_end)
        nor[end - CLAIM.size : end] = nor[start : start + CLAIM.size]

    return change


def add_variant(project: Project) -> None:
    """Add a model with the same code, another weight and its own name."""
    shutil.copytree(project.root / "models/keyword", project.root / "models/variant")
    (project.root / "models/variant/keyword.tflite").rename(project.root / "models/variant/variant.tflite")
    project.replace("models/variant/model.yaml", "name: keyword", "name: variant")
    project.replace("models/variant/model.yaml", "file: keyword.tflite", "file: variant.tflite")
    project.change_one_weight("variant")


def put(address: int, image: Path) -> Change:
    """Program an image, as an attacker who can write to the flash does."""
    data = image.read_bytes()

    def change(nor: bytearray) -> None:
        nor[at(address) : at(address) + len(data)] = data

    return change


def test_signed_weights_of_a_model_with_equal_code_are_refused(project: Project) -> None:
    add_variant(project)
    options = signed(project, "trust=full", "model=variant")
    project.done(*options, "build")
    result = project.scons(*options, "model=keyword", "flash", "run")
    assert EQUAL in result.output, result.output
    own, other = (project.root / f"build/nucleo-n657-trust-full/{name}" for name in ("keyword", "variant"))
    assert code_of(own) == code_of(other)
    plan = read_plan(own / "memory_plan.json")
    weights = put(plan.images[0].source, other / "weights_xSPI2.bin")
    assert "error N6-FW-092" in says(project, weights)
    vectors = put(plan.networks[0].vectors.source, other / "vectors.bin")
    assert "error N6-FW-092" in says(project, vectors)
    # New weights of the same model need no other Appli.
    project.change_one_weight("keyword")
    project.done(*options, "model=keyword", "build")
    updated = says(project, put(plan.images[0].source, own / "weights_xSPI2.bin"))
    assert "n6 done" in updated, updated


@pytest.mark.slow
def test_signed_weights_of_a_relocatable_model_with_equal_code_are_refused(project: Project) -> None:
    add_variant(project)
    options = signed(project, "trust=full", "model=variant", "loader=reloc", "split=1")
    project.done(*options, "build")
    result = project.scons(*options, "model=keyword", "flash", "run")
    assert EQUAL in result.output, result.output
    own, other = (project.root / f"build/nucleo-n657-trust-full/{name}-reloc" for name in ("keyword", "variant"))
    slot = read_plan(own / "memory_plan.json").models[0].slots[0]
    refused = says(project, put(slot.params, other / "params.bin"))
    assert "slot=a refused N6-FW-092" in refused, refused
    project.change_one_weight("keyword")
    project.done(*options, "model=keyword", "build")
    updated = says(project, put(slot.params, own / "params.bin"))
    assert "slot=a revision=0" in updated, updated


def code_of(folder: Path) -> bytes:
    """Return network.c without comments, which name the model."""
    return re.sub(rb"/\*.*?\*/", b"", (folder / "network/network.c").read_bytes(), flags=re.DOTALL)
