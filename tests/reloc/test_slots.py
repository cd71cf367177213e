"""Flash slots of relocatable models: places, content, and the next update's slot."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.intel_hex import ERASED
from n6build.board.flash.model_update import (
    Running,
    Update,
    check_running,
    plan_updates,
    read_running,
    remember_running,
)
from n6build.describe.hardware.boards import load_board
from n6build.place.memory_plan.plan import MemoryPlan, PlannedModel, PlannedNetwork, PlannedVectors
from n6build.place.reloc.reader import RelocFile
from n6build.place.reloc.slots import (
    Identity,
    ModelSlot,
    SelfTest,
    model_slots,
    name_crc32,
    outputs_crc32,
    read_trailer,
    slot_chunks,
    slots_at,
    with_revision,
)

BOARD = load_board("nucleo-n657")
WEIGHTS = BOARD.slots.weights


@pytest.mark.parametrize("models", [1, 2, 3, 7])
@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("split", [False, True])
def test_slots_are_sectors_of_their_own_inside_the_board_s(models: int, slots: int, split: bool) -> None:
    places = [slot for each in model_slots(BOARD, models, slots=slots, split=split) for slot in each]
    assert len(places) == models * slots
    spans = [(slot.file, slot.file_bytes) for slot in places] + [(s.params, s.params_bytes) for s in places if split]
    for address, size in spans:
        assert address % BOARD.nor.sector == size % BOARD.nor.sector == 0
        assert WEIGHTS.address <= address and address + size <= WEIGHTS.end
        assert size
    for (one, size), (other, _) in itertools.pairwise(sorted(spans)):
        assert one + size <= other


def test_one_model_stands_where_st_s_tools_expect_it() -> None:
    assert model_slots(BOARD, 1, slots=1, split=True) == [[ModelSlot(0x71000000, 8 << 20, 0x71800000, 40 << 20)]]
    assert slots_at(BOARD, "0x71000000,0x71800000", split=True) == model_slots(BOARD, 1, slots=1, split=True)


def test_weights_may_stand_in_front_of_the_model() -> None:
    ((slot,),) = slots_at(BOARD, "0x72000000,0x71000000", split=True)
    assert slot == ModelSlot(0x72000000, 32 << 20, 0x71000000, 16 << 20)


@pytest.mark.parametrize("text", ["", "x", "0x71000000,0x71800000,0", "0x71000001", "0x70000000", "0x74000000"])
def test_addresses_that_cannot_be(text: str) -> None:
    with pytest.raises(N6Error, match="N6-SLOT-002"):
        slots_at(BOARD, text, split=False)


WORDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60)
@given(st.binary(min_size=1, max_size=300), st.binary(max_size=40), st.one_of(st.none(), WORDS), WORDS)
def test_a_slot_reads_back_what_was_put_there(data: bytes, test: bytes, expected: int | None, revision: int) -> None:
    identity = Identity(name_crc32("m"), 7)
    image = b"".join(slot_chunks([data[:100], data[100:]], identity, SelfTest(test, expected)))
    trailer = read_trailer(image + bytes([ERASED]) * 100, len(data))
    assert trailer is not None
    assert (trailer.bytes, trailer.identity, trailer.revision) == (len(data), identity, 0)
    assert trailer.test == SelfTest(test, expected)
    newer = read_trailer(with_revision(image, len(data), revision), len(data))
    assert newer is not None
    assert newer.revision == revision


@settings(max_examples=100)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_byte_that_changes_is_noticed(position: int, change: int) -> None:
    data = bytes(range(200))
    image = bytearray(b"".join(slot_chunks([data], Identity(1, 2), SelfTest(b"input", 3))))
    at = position % len(image)
    image[at] ^= change
    # Eight bytes of padding between file and trailer have no meaning.
    assert (read_trailer(bytes(image), len(data)) is None) == (not 200 <= at < 208)


def test_outputs_are_combined_as_the_firmware_does() -> None:
    import zlib

    assert outputs_crc32(b"abcdef", [2, 4]) == zlib.crc32(b"ab") ^ zlib.crc32(b"cdef")


# Updates of slots.

NOR = 1 << 20


class Board:
    """A board with two slots of 256 KiB in a NOR, and a model's images in a folder."""

    def __init__(self, folder: Path, model: RelocFile) -> None:
        self.nor = bytearray([ERASED]) * NOR
        self.folder = folder
        self.model = model
        self.bytes_read = 0
        slots = (ModelSlot(0x71000000, NOR // 4, 0, 0), ModelSlot(0x71000000 + NOR // 4, NOR // 4, 0, 0))
        vectors = PlannedVectors("", 0, 0, 0)
        network = PlannedNetwork("keyword", "network", "network", True, vectors, ())
        planned = PlannedModel("network", "model.bin", "", slots)
        self.plan = MemoryPlan("keyword", "b", "p", (network,), (), (), (), (), (), 32, (planned,))

    def offer(self, test: bytes, name: str = "keyword") -> None:
        identity = Identity(name_crc32(name), 1)
        image = b"".join(slot_chunks([self.model.data], identity, SelfTest(test, None)))
        (self.folder / "model.bin").write_bytes(image)

    def read(self, address: int, size: int) -> bytes:
        start = address - 0x71000000
        self.bytes_read += size
        return bytes(self.nor[start : start + size])

    def update(self, running: dict[str, Running] | None = None) -> Update:
        (update,) = plan_updates(self.plan, self.folder, self.read, running or {})
        return update

    def program(self, update: Update, *, cut: int | None = None) -> None:
        for _, address, data in update.images:
            start = address - 0x71000000
            self.nor[start : start + NOR // 4] = bytes([ERASED]) * (NOR // 4)
            self.nor[start : start + len(data[:cut])] = data[:cut]


@pytest.fixture
def board(tmp_path: Path, whole: RelocFile) -> Board:
    return Board(tmp_path, whole)


def test_the_first_model_goes_to_slot_a(board: Board) -> None:
    board.offer(b"1")
    update = board.update()
    assert (update.slot, update.revision, update.is_new) == (0, 0, True)


def test_the_same_model_is_not_programmed_again(board: Board) -> None:
    board.offer(b"1")
    board.program(board.update())
    assert not board.update().is_new


def test_a_model_that_would_reach_into_the_other_slot_is_not_programmed(board: Board) -> None:
    board.offer(bytes(NOR // 4))
    with pytest.raises(N6Error, match=r"N6-SLOT-003: has \d+ bytes, \d+ more than its part of flash slot"):
        board.update()


def test_of_a_slot_no_more_is_read_than_is_in_it(board: Board) -> None:
    """Reading a slot only reads its content.

    A cable is slow: a slot may have many megabytes, of which a model fills some kilobytes.
    """
    board.offer(b"1")
    board.program(board.update())
    assert board.bytes_read == 2 * 4096
    board.bytes_read = 0
    assert not board.update().is_new
    assert board.bytes_read < len(board.model.data) + 3 * 4096 < NOR // 4


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 6000), st.binary(min_size=1, max_size=8)), max_size=6))
def test_whatever_a_slot_holds_an_update_is_found(board: Board, changes: list[tuple[int, bytes]]) -> None:
    board.offer(b"1")
    board.program(
        Update("keyword", 0, 0, (("model.bin", 0x71000000, (board.folder / "model.bin").read_bytes()),), True)
    )
    for at, data in changes:
        board.nor[at : at + len(data)] = data
    update = board.update()
    assert update.slot in (0, 1)


def test_confirmed_models_alternate(board: Board) -> None:
    running: dict[str, Running] = {}
    for number, slot in enumerate((0, 1, 0, 1)):
        board.offer(b"%d" % number)
        update = board.update(running)
        assert (update.slot, update.revision) == (slot, number)
        board.program(update)
        running = {"keyword": Running(update.slot, update.revision)}


def test_a_model_that_was_never_seen_to_run_is_the_one_that_goes(board: Board) -> None:
    for test, slot, revision in ((b"0", 0, 0), (b"1", 1, 1), (b"2", 1, 2), (b"3", 1, 3)):
        board.offer(test)
        update = board.update({"keyword": Running(0, 0)} if revision else {})
        assert (update.slot, update.revision) == (slot, revision)
        board.program(update)


def test_going_back_to_the_older_model_makes_it_the_newer(board: Board) -> None:
    running: dict[str, Running] = {}
    for test in (b"0", b"1", b"0"):
        board.offer(test)
        update = board.update(running)
        assert update.is_new
        board.program(update)
        running = {"keyword": Running(update.slot, update.revision)}
    assert running["keyword"] == Running(0, 2)


def test_a_model_without_its_trailer_is_not_the_image_of_a_slot(board: Board) -> None:
    (board.folder / "model.bin").write_bytes(board.model.data)
    with pytest.raises(N6Error, match="N6-FLASH-022: is not an image for the flash slot of a model"):
        board.update()


def test_what_was_cut_off_is_written_over(board: Board) -> None:
    board.offer(b"0")
    board.program(board.update())
    board.offer(b"1")
    board.program(board.update({"keyword": Running(0, 0)}), cut=1000)
    update = board.update({"keyword": Running(0, 0)})
    assert (update.slot, update.revision, update.is_new) == (1, 1, True)


def test_another_model_s_slots_are_free(board: Board) -> None:
    board.offer(b"0", name="other")
    board.program(board.update())
    board.offer(b"0")
    update = board.update()
    assert (update.slot, update.revision) == (0, 0)


def test_revisions_wrap(board: Board) -> None:
    board.offer(b"0")
    first = board.update()
    size = len(board.model.data)
    last = with_revision(first.images[0][2], size, 0xFFFFFFFF)
    board.program(Update("keyword", 0, 0xFFFFFFFF, (("model.bin", 0x71000000, last),), True))
    board.offer(b"1")
    second = board.update()
    assert (second.slot, second.revision) == (1, 0)
    board.program(second)
    board.offer(b"2")
    third = board.update({"keyword": Running(1, 0)})
    assert (third.slot, third.revision) == (0, 1)


def test_what_the_board_said_is_remembered(tmp_path: Path) -> None:
    record, other = tmp_path / "0041.json", tmp_path / "0042.json"
    assert read_running(record) == {}
    remember_running(record, {"a": (0, 1)})
    remember_running(record, {"b": (1, 2)})
    assert read_running(record) == {"a": Running(0, 1), "b": Running(1, 2)}
    assert read_running(other) == {}
    (tmp_path / "0041.models").write_text('{"a": {"slot": "x"}}')
    assert read_running(record) == {}


def test_a_board_that_runs_another_model_says_why(board: Board) -> None:
    board.offer(b"0")
    update = board.update()
    check_running([update], {"keyword": (0, 0)}, {})
    with pytest.raises(N6Error, match="N6-FLASH-020") as caught:
        check_running([update], {"keyword": (1, 7)}, {("keyword", 0): "N6-FW-055 the self-test gives other outputs"})
    assert "N6-FW-055 the self-test gives other outputs; it still runs slot b, revision 7" in caught.value.what
    with pytest.raises(N6Error, match="no model is left"):
        check_running([update], {}, {})
