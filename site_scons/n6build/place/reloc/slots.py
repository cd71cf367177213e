"""Flash slots of relocatable models: their addresses and their contents.

    file, padded to 16 | trailer | input of the self-test

The file itself contains its size, so that a firmware finds the trailer of a model that it was not
built with.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.describe.formats.model_trailer import ALIGNMENT, LAYOUT, MAGIC, TRAILER
from n6build.describe.hardware.board import Board
from n6build.place.reloc.model_format import READ_ONLY_ALIGNMENT
from n6build.place.trust.release import Part, SlotParts, part_of

TRAILER_BYTES = TRAILER.size
_CRC_BYTES = 4
_CHANGING = tuple(TRAILER.offset_of(name) for name in ("revision", "trailer_crc32"))
# With weights in a separate file, the model gets the first sixth of a slot: 8 of 48 MiB on a NUCLEO board, as ST's tools do.
_FILE_SHARE = 6
LETTERS = "ab"


@dataclass(frozen=True)
class ModelSlot:
    """Addresses, in the memory-mapped window, and sizes, in bytes, of a model's slot.

    Attributes:
        file: address of the model.
        file_bytes: room for the model.
        params: address of the weights' file; 0 if there is none.
        params_bytes: room for the weights' file.
    """

    file: int
    file_bytes: int
    params: int
    params_bytes: int


@dataclass(frozen=True)
class SelfTest:
    """The self-test of a model: one inference with a known result.

    Attributes:
        input: input of the inference; empty means zeros.
        outputs_crc32: expected digest of the outputs; None if unknown.
    """

    input: bytes
    outputs_crc32: int | None


NO_SELF_TEST = SelfTest(b"", None)


def outputs_crc32(outputs: bytes, sizes: Sequence[int]) -> int:
    """Return the firmware's digest of outputs: the CRC-32 of each, joined by XOR.

    Args:
        outputs: outputs, one after another.
        sizes: bytes of each output.
    """
    crc, start = 0, 0
    for size in sizes:
        crc ^= zlib.crc32(outputs[start : start + size])
        start += size
    return crc


def name_crc32(model: str) -> int:
    """Return the CRC-32 by which a firmware recognises the model in a slot."""
    return zlib.crc32(model.encode())


@dataclass(frozen=True)
class Identity:
    """The identity of a model.

    Attributes:
        model: CRC-32 of its name.
        signature: signature of the network's code, the same for a model and its weights.
    """

    model: int
    signature: int


@dataclass(frozen=True)
class Trailer:
    """The trailer behind a file in its slot.

    Attributes:
        bytes: size of the file.
        crc32: CRC-32 of the file.
        revision: number that is higher for a newer file.
    """

    bytes: int
    crc32: int
    identity: Identity
    revision: int
    test: SelfTest


def model_slots(board: Board, models: int, *, slots: int, split: bool) -> list[list[ModelSlot]]:
    """Return slot A and, if there are two slots, slot B of each model.

    The slots are equal parts of the board's slot for weights, so that no model moves another.

    Args:
        board: board whose slot for weights is divided.
        models: number of models.
        slots: slots for each model, 1 or 2.
        split: whether the weights are a separate file.

    Raises:
        N6Error: N6-SLOT-001 if the parts are smaller than a sector of the board.
    """
    whole, sector = board.slots.weights, board.nor.sector
    span = whole.size // (models * slots) // sector * sector
    file_bytes = span // _FILE_SHARE // sector * sector if split else span
    if not file_bytes:
        what = (
            f"{models * slots} parts of slot 'weights' ({whole.size} bytes) are smaller than a sector of {sector} bytes"
        )
        raise N6Error("N6-SLOT-001", what, where=f"boards/{board.name}/board.yaml: slots.weights")
    return [
        [_slot(whole.address + (model * slots + slot) * span, span, file_bytes, split=split) for slot in range(slots)]
        for model in range(models)
    ]


def _slot(address: int, span: int, file_bytes: int, *, split: bool) -> ModelSlot:
    if not split:
        return ModelSlot(address, span, 0, 0)
    return ModelSlot(address, file_bytes, address + file_bytes, span - file_bytes)


def executable_ram_part(executable_ram: int, models: int) -> int:
    """Return the bytes of the Appli's executable RAM that each model gets.

    Args:
        executable_ram: bytes for all models.
        models: number of models.
    """
    return executable_ram // models // READ_ONLY_ALIGNMENT * READ_ONLY_ALIGNMENT


def slots_at(board: Board, addresses: str, *, split: bool) -> list[list[ModelSlot]]:
    """Return one slot of one model, at addresses that the user chose.

    Args:
        board: board with the slot for weights.
        addresses: '0x71000000' of the model, or '0x71000000,0x71800000' of the model and its weights.
        split: whether the weights are a separate file.

    Raises:
        N6Error: N6-SLOT-002 if the addresses are not sectors of the board's slot for weights.
    """
    whole, sector = board.slots.weights, board.nor.sector
    try:
        numbers = [int(part, 0) for part in addresses.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != (2 if split else 1):
        expected = "two addresses, of the model and of its weights" if split else "one address"
        raise N6Error("N6-SLOT-002", f"'addresses={addresses}': {expected}", hint="0x71000000" + ",0x71800000" * split)
    for number in numbers:
        if number % sector or not whole.address <= number < whole.end:
            raise N6Error(
                "N6-SLOT-002",
                f"0x{number:08X} is not a sector of slot 'weights' "
                f"(0x{whole.address:08X}..0x{whole.end:08X}, sectors of {sector})",
                where="addresses",
            )
    ends = sorted([*numbers, whole.end])
    sizes = [
        next(end for end in ends if end > number) - number if number != max(numbers) else whole.end - number
        for number in numbers
    ]
    if len(set(numbers)) != len(numbers):
        raise N6Error("N6-SLOT-002", "model and weights have the same address", where="addresses")
    return [[ModelSlot(numbers[0], sizes[0], *((numbers[1], sizes[1]) if split else (0, 0)))]]


def slot_chunks(content: Iterable[bytes], identity: Identity, test: SelfTest) -> Iterator[bytes]:
    """Yield the bytes of a slot, with revision 0, that of a first model.

    `content` is not held in memory.
    """
    size, crc = 0, 0
    for chunk in content:
        size += len(chunk)
        crc = zlib.crc32(chunk, crc)
        yield chunk
    yield bytes(_padding(size))
    yield pack_trailer(Trailer(size, crc, identity, 0, test)) + test.input


def slot_bytes(file_bytes: int, test: SelfTest) -> int:
    """Return the number of bytes that `slot_chunks` yields."""
    return trailer_offset(file_bytes) + TRAILER_BYTES + len(test.input)


def check_room(size: int, room: int, file: str) -> None:
    """Check that an image fits into its part of the slot. size, room: bytes.

    Raises:
        N6Error: N6-SLOT-003 if it would reach into the next version of the model, or into its weights.
    """
    if size > room:
        what = f"has {size} bytes, {size - room} more than its part of flash slot 'weights' ({room})"
        hint = "use slots=1, fewer models, addresses further apart, or a larger slot in board.yaml"
        raise N6Error("N6-SLOT-003", what, where=file, hint=hint)


def _padding(size: int) -> int:
    return -size % ALIGNMENT


def pack_trailer(trailer: Trailer) -> bytes:
    """Return the bytes of a trailer; its last word is the CRC-32 of the words before."""
    expected = trailer.test.outputs_crc32
    packed = TRAILER.pack(
        magic=int.from_bytes(MAGIC, "little"),
        layout=LAYOUT,
        bytes=trailer.bytes,
        crc32=trailer.crc32,
        signature=trailer.identity.signature,
        revision=trailer.revision,
        test_input_bytes=len(trailer.test.input),
        test_input_crc32=zlib.crc32(trailer.test.input),
        test_outputs_crc32=expected or 0,
        has_expected=int(expected is not None),
        model_crc32=trailer.identity.model,
    )
    head = packed[:-_CRC_BYTES]
    return head + zlib.crc32(head).to_bytes(_CRC_BYTES, "little")


def trailer_offset(file_bytes: int) -> int:
    """Return the offset of the trailer in the slot of a file of this size, in bytes."""
    return file_bytes + _padding(file_bytes)


def stored_bytes(slot: bytes, file_bytes: int) -> int:
    """Return the bytes of a file with its trailer and the input of its self-test.

    Args:
        slot: flash content; a damaged trailer may give any number.
        file_bytes: size of the file.
    """
    at = trailer_offset(file_bytes)
    packed = slot[at : at + TRAILER_BYTES]
    test_bytes = TRAILER.unpack(packed)["test_input_bytes"] if len(packed) == TRAILER_BYTES else 0
    return at + TRAILER_BYTES + test_bytes


def read_trailer(slot: bytes, file_bytes: int) -> Trailer | None:
    """Return the trailer of a slot; None without a whole file of this size.

    Args:
        slot: flash content.
        file_bytes: size of the file.
    """
    at = trailer_offset(file_bytes)
    packed = slot[at : at + TRAILER_BYTES]
    if len(packed) < TRAILER_BYTES:
        return None
    found = TRAILER.unpack(packed)
    wanted = {
        "magic": int.from_bytes(MAGIC, "little"),
        "layout": LAYOUT,
        "bytes": file_bytes,
        "trailer_crc32": zlib.crc32(packed[:-_CRC_BYTES]),
    }
    if any(found[name] != value for name, value in wanted.items()) or zlib.crc32(slot[:file_bytes]) != found["crc32"]:
        return None
    test = slot[at + TRAILER_BYTES : at + TRAILER_BYTES + found["test_input_bytes"]]
    if len(test) != found["test_input_bytes"] or zlib.crc32(test) != found["test_input_crc32"]:
        return None
    identity = Identity(found["model_crc32"], found["signature"])
    expected = found["test_outputs_crc32"] if found["has_expected"] else None
    return Trailer(found["bytes"], found["crc32"], identity, found["revision"], SelfTest(test, expected))


def newer_layout(slot: bytes, file_bytes: int) -> int | None:
    """Return the layout of a trailer that a newer n6build wrote, else None.

    Args:
        slot: flash content, with a file of this size.
        file_bytes: size of the file.
    """
    at = trailer_offset(file_bytes)
    if len(slot) < at + TRAILER_BYTES:
        return None
    found = TRAILER.unpack(slot[at : at + TRAILER_BYTES])
    return found["layout"] if found["magic"] == int.from_bytes(MAGIC, "little") and found["layout"] > LAYOUT else None


def released_part(slot: bytes, file_bytes: int, weights_offset: int, subject: bytes) -> Part:
    """Return the part of a release that a file in its slot is.

    Args:
        slot: flash content with a whole file of this size, its trailer and self-test, and nothing behind.
        file_bytes: size of the file.
        weights_offset: offset of the weights in the file.
        subject: identity of the part.
    """
    return part_of(slot, SlotParts(file_bytes, weights_offset, trailer_offset(file_bytes), _CHANGING), subject)


def with_revision(slot: bytes, file_bytes: int, revision: int) -> bytes:
    """Return a slot with another revision, as a newer or an older model.

    Args:
        slot: flash content with a whole file of this size.
        file_bytes: size of the file.
        revision: the new revision.
    """
    trailer = read_trailer(slot, file_bytes)
    assert trailer is not None
    at = trailer_offset(file_bytes)
    return slot[:at] + pack_trailer(replace(trailer, revision=revision)) + slot[at + TRAILER_BYTES :]
