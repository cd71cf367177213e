"""Models with two flash slots, A and B: a new one goes to the slot that is not in use.

The slot in use is the one that the board reported when it last ran. Where that is unknown, the older of two models stays, since
the newer one was never seen to work. The slot that stays is not touched, so that a working model remains whatever happens to the
other one: the firmware takes the newest that is whole and passes its self-test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, to_json, write_atomically
from n6build.formats.model_trailer import LAYOUT
from n6build.memory_plan.plan import MemoryPlan, PlannedModel
from n6build.reloc.reader import RelocFile, parse_reloc_file
from n6build.reloc.slots import (
    LETTERS,
    TRAILER_BYTES,
    ModelSlot,
    Trailer,
    check_room,
    newer_layout,
    read_trailer,
    stored_bytes,
    trailer_offset,
    with_revision,
)
from n6build.trust.sign import LARGEST_CLAIM, stored_claim

# A revision is a word that may wrap.
_REVISIONS = 1 << 32
# Bytes of a slot that are read first: more than a header.
_BEGINNING = 4096

Read = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Running:
    """A model as the board last ran it. slot: 0 for A, 1 for B."""

    slot: int
    revision: int


@dataclass(frozen=True)
class Update:
    """images: name, address and bytes of the model and of its weights. is_new: False where they are already in flash."""

    model: str
    slot: int
    revision: int
    images: tuple[tuple[str, int, bytes], ...]
    is_new: bool

    @property
    def letter(self) -> str:
        """Of the slot: 'a' or 'b'."""
        return LETTERS[self.slot]


@dataclass(frozen=True)
class _Content:
    """What a slot holds: the bytes up to the end of the self-test's input, or of the signature behind it, and those of the
    weights."""

    file: bytes
    params: bytes
    file_bytes: int
    trailer: Trailer

    @property
    def claim(self) -> bytes:
        """Behind the self-test's input, of a signed model."""
        return self.file[stored_bytes(self.file, self.file_bytes) :]


def plan_updates(plan: MemoryPlan, folder: Path, read: Read, running: Mapping[str, Running]) -> list[Update]:
    """folder: with the images. read(address, bytes): of the board's flash. running: by model, as far as it is known.

    Raises N6-FLASH-022 where an image is not what the plan has, N6-SLOT-003 where it is too large for its slot, N6-SLOT-004
    where a newer n6build has put a model there.
    """
    names = {network.name: network.model for network in plan.networks}
    return [_update(model, names[model.network], folder, read, running) for model in plan.models]


def expected_images(plan: MemoryPlan, folder: Path, read: Read) -> list[tuple[str, int, bytes]]:
    """Name, address and bytes of each model and of its weights, in the slot and revision in which the board has the newest model
    of that name; in slot A where it has none. folder, read: as for `plan_updates`. Raises N6-FLASH-022, N6-SLOT-004."""
    images: list[tuple[str, int, bytes]] = []
    for planned in plan.models:
        wanted = _image(planned, folder)
        contents = [_content(slot, read) for slot in planned.slots]
        slot = _newest(contents, wanted.trailer) or 0
        found = contents[slot]
        images += _images(planned, slot, _revised(wanted, found.trailer.revision if found else 0))
    return images


def _update(planned: PlannedModel, model: str, folder: Path, read: Read, running: Mapping[str, Running]) -> Update:
    wanted = _image(planned, folder)
    _check_room(planned, wanted)
    contents = [_content(slot, read) for slot in planned.slots]
    newest = _newest(contents, wanted.trailer)
    found = None if newest is None else contents[newest]
    if newest is not None and found and _same(found, wanted):
        return Update(model, newest, found.trailer.revision, _images(planned, newest, found), is_new=False)
    kept = _kept(contents, wanted.trailer, running.get(model))
    target = 0 if kept is None else 1 - kept
    revision = (found.trailer.revision + 1) % _REVISIONS if found else 0
    return Update(model, target, revision, _images(planned, target, _revised(wanted, revision)), is_new=True)


def _revised(wanted: _Content, revision: int) -> _Content:
    file = with_revision(wanted.file, wanted.file_bytes, revision)
    return _Content(file, wanted.params, wanted.file_bytes, wanted.trailer)


def _check_room(planned: PlannedModel, wanted: _Content) -> None:
    """Raises N6-SLOT-003 for what would reach into the slot that has to stay."""
    for slot in planned.slots:
        check_room(len(wanted.file), slot.file_bytes, planned.file)
        check_room(len(wanted.params), slot.params_bytes, planned.params_file)


def _kept(contents: Sequence[_Content | None], wanted: Trailer, running: Running | None) -> int | None:
    """The slot that an update leaves alone, None where neither holds a model to keep."""
    own = _own(contents, wanted)
    for index, content in own:
        if running == Running(index, content.trailer.revision):
            return index
    newest = _newest(contents, wanted)
    others = [index for index, _ in own if index != newest]
    return others[0] if others else newest


def _own(contents: Sequence[_Content | None], wanted: Trailer) -> list[tuple[int, _Content]]:
    """Slots that hold this model, whatever its weights are."""
    name = wanted.identity.model
    return [(index, each) for index, each in enumerate(contents) if each and each.trailer.identity.model == name]


def _newest(contents: Sequence[_Content | None], wanted: Trailer) -> int | None:
    """The slot that the firmware tries first."""
    newest: tuple[int, int] | None = None
    for index, content in _own(contents, wanted):
        revision = content.trailer.revision
        if newest is None or 0 < (revision - newest[1]) % _REVISIONS < _REVISIONS // 2:
            newest = index, revision
    return newest[0] if newest else None


def _same(content: _Content, wanted: _Content) -> bool:
    """Apart from the revision."""
    one, other = content.trailer, wanted.trailer
    return (one.crc32, one.identity, one.test) == (other.crc32, other.identity, other.test) and (
        content.params == wanted.params and content.file_bytes == wanted.file_bytes and content.claim == wanted.claim
    )


def _images(planned: PlannedModel, slot: int, content: _Content) -> tuple[tuple[str, int, bytes], ...]:
    place = planned.slots[slot]
    # Weights first: an interruption then leaves the older file, whose revision the firmware does not take.
    weights = [(planned.params_file, place.params, content.params)] if planned.params_file else []
    return (*weights, (planned.file, place.file, content.file))


def _image(planned: PlannedModel, folder: Path) -> _Content:
    file = read_bytes(folder / planned.file)
    params = read_bytes(folder / planned.params_file) if planned.params_file else b""
    model = parse_reloc_file(file, planned.file)
    trailer = read_trailer(file, model.file_bytes)
    if trailer is None:
        raise N6Error("N6-FLASH-022", "is not an image of a model's flash slot", where=planned.file, hint="build again")
    return _Content(file, params, model.file_bytes, trailer)


def _content(slot: ModelSlot, read: Read) -> _Content | None:
    """None where the slot does not hold a whole model. Raises N6-SLOT-004 for one of a newer n6build, which is not ours to
    overwrite."""
    model = _model(slot, read)
    if model is None:
        return None
    data = _stored(model.data, slot.file, slot.file_bytes, model.file_bytes, read)
    layout = newer_layout(data, model.file_bytes)
    if layout is not None:
        what = f"holds a model that a newer n6build put there (layout {layout}, this one writes {LAYOUT})"
        hint = "use that n6build; or scons flash-all programs everything anew, with nothing left of it"
        raise N6Error("N6-SLOT-004", what, where=f"slot at 0x{slot.file:08X}", hint=hint)
    trailer = read_trailer(data, model.file_bytes)
    if trailer is None:
        return None
    params = _params(model, trailer, slot, read)
    return None if params is None else _Content(data, params, model.file_bytes, trailer)


def _model(slot: ModelSlot, read: Read) -> RelocFile | None:
    """Without its weights, since the board is slow to read. None where there is no model."""
    data = b""
    while len(data) < slot.file_bytes:
        data = _grown(data, slot.file, min(max(_BEGINNING, 2 * len(data)), slot.file_bytes), read)
        try:
            return parse_reloc_file(data, "slot")
        except N6Error as error:
            # -031: there is more of it than was read so far.
            if error.id != "N6-RELOC-031":
                return None
    return None


def _grown(data: bytes, address: int, size: int, read: Read) -> bytes:
    """data: the beginning of what is at this address; extended to at least `size` bytes."""
    return data if len(data) >= size else data + read(address + len(data), size - len(data))


def _stored(data: bytes, address: int, limit: int, file_bytes: int, read: Read) -> bytes:
    """A file in its slot, with trailer, input of the self-test and signature, as far as they are there. data: its beginning."""
    data = _grown(data, address, min(trailer_offset(file_bytes) + TRAILER_BYTES, limit), read)
    end = stored_bytes(data, file_bytes)
    data = _grown(data, address, min(end + LARGEST_CLAIM, limit), read)
    return data[:end] + stored_claim(data, end)


def _params(model: RelocFile, trailer: Trailer, slot: ModelSlot, read: Read) -> bytes | None:
    """Weights in a separate file, with their trailer. None where they are not those of the model."""
    if not model.is_split:
        return b""
    if not slot.params:
        return None
    data = _stored(b"", slot.params, slot.params_bytes, model.params_bytes, read)
    own = read_trailer(data, model.params_bytes)
    if own is None or own.identity.signature != trailer.identity.signature:
        return None
    return data


def _running_path(record: Path) -> Path:
    return record.with_suffix(".models")


def read_running(record: Path) -> dict[str, Running]:
    """record: of the board. What the board last reported; empty where that is not known."""
    try:
        values: Any = parse_json(_running_path(record).read_bytes())
        return {name: Running(int(each["slot"]), int(each["revision"])) for name, each in values.items()}
    except (OSError, *WRONG_FIELDS):
        return {}


def remember_running(record: Path, models: Mapping[str, tuple[int, int]]) -> None:
    """models: (slot, revision), as the firmware printed them. Those of other models stay."""
    running = {**read_running(record), **{name: Running(*each) for name, each in models.items()}}
    values = {name: {"slot": each.slot, "revision": each.revision} for name, each in sorted(running.items())}
    write_atomically(_running_path(record), to_json(values), durable=True)


def check_running(
    updates: Sequence[Update], models: Mapping[str, tuple[int, int]], refused: Mapping[tuple[str, int], str]
) -> None:
    """After the board has started. refused: (model, slot) -> what the board said. Raises N6-FLASH-020 where it runs another
    model than the one that was programmed."""
    for update in updates:
        stays = models.get(update.model)
        if stays == (update.slot, update.revision):
            continue
        why = refused.get((update.model, update.slot), "it gives no reason")
        still = f"it still runs slot {LETTERS[stays[0]]}, revision {stays[1]}" if stays else "no model is left"
        raise N6Error(
            "N6-FLASH-020",
            f"the board refuses model {update.model} in slot {update.letter}, revision {update.revision}: {why}; {still}",
            hint="the older model was not touched; program another one",
        )
