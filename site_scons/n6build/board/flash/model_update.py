"""Update of models with two flash slots, A and B.

A new model goes to the slot that is not in use. The slot in use is the one that the board reported
in its last run. If that is unknown, the older of two models stays, since the newer one was never
seen to work. The slot that stays is not touched, so that a working model always remains: the firmware
uses the newest valid model that passes its self-test.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, to_json, write_atomically
from n6build.base.regular_file import content_of
from n6build.describe.formats.model_trailer import LAYOUT
from n6build.place.memory_plan.plan import MemoryPlan, PlannedModel
from n6build.place.reloc.reader import RelocFile, parse_reloc_file
from n6build.place.reloc.slots import (
    LETTERS,
    TRAILER_BYTES,
    ModelSlot,
    Trailer,
    check_room,
    newer_layout,
    read_trailer,
    released_part,
    stored_bytes,
    trailer_offset,
    with_revision,
)
from n6build.place.trust.release import Part, subject

# A revision is a 32-bit word that may wrap.
_REVISIONS = 1 << 32
# Bytes of a slot that are read first: more than a header.
_BEGINNING = 4096

Read = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Running:
    """A model as the board last ran it.

    Attributes:
        slot: 0 for A, 1 for B.
        revision: Revision of the model.
    """

    slot: int
    revision: int


@dataclass(frozen=True)
class Update:
    """A model and the slot that it goes to.

    Attributes:
        model: Name of the model.
        slot: 0 for A, 1 for B.
        revision: Revision of the model.
        images: Name, address and bytes of the model and of its weights.
        is_new: False if the images are already in flash.
    """

    model: str
    slot: int
    revision: int
    images: tuple[tuple[str, int, bytes], ...]
    is_new: bool

    @property
    def letter(self) -> str:
        """Return the letter of the slot, 'a' or 'b'."""
        return LETTERS[self.slot]


@dataclass(frozen=True)
class _Content:
    """Content of a slot.

    Attributes:
        file: Bytes up to the end of the self-test's input.
        params: Bytes of the weights with their trailer.
        model: Header of the model's file.
        trailer: The trailer.
    """

    file: bytes
    params: bytes
    model: RelocFile
    trailer: Trailer

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return its parts as a release lists them. name: name of the model."""
        model = self.model
        part = released_part(self.file, model.file_bytes, model.weights_offset, subject("model", name))
        if not model.is_split:
            return (part,)
        return (part, released_part(self.params, model.params_bytes, 0, subject("params", name)))


def plan_updates(plan: MemoryPlan, folder: Path, read: Read, running: Mapping[str, Running]) -> list[Update]:
    """Choose slot and revision of each model.

    Args:
        plan: Memory plan with the models.
        folder: Folder with the images.
        read: read(address, bytes) reads the board's flash.
        running: Known running models, by name.

    Raises:
        N6Error: N6-FLASH-022 if an image does not fit the plan; N6-SLOT-003 if it is too large for its
            slot; N6-SLOT-004 if a newer n6build has put a model there.
    """
    names = {network.name: network.model for network in plan.networks}
    return [_update(model, names[model.network], folder, read, running) for model in plan.models]


def running_of(plan: MemoryPlan, release: Collection[Part], read: Read) -> dict[str, Running]:
    """Return the models in flash that a release names.

    It is the release of the Appli that stays.

    Args:
        plan: Memory plan with the models.
        release: Parts of the release.
        read: read(address, bytes) reads the board's flash.

    Raises:
        N6Error: N6-SLOT-004.
    """
    names = {network.name: network.model for network in plan.networks}
    return {
        names[planned.network]: Running(slot, content.trailer.revision)
        for planned in plan.models
        for slot, content in enumerate(_content(each, read) for each in planned.slots)
        if content and set(content.parts(names[planned.network])) <= set(release)
    }


def expected_images(plan: MemoryPlan, folder: Path, read: Read) -> list[tuple[str, int, bytes]]:
    """Return name, address and bytes of each model and of its weights on a board.

    A model is expected in the slot and revision of the board's newest model of that name; in slot A if
    the board has none.

    Args:
        plan: Memory plan with the models.
        folder: Folder with the images.
        read: read(address, bytes) reads the board's flash.

    Raises:
        N6Error: N6-FLASH-022, N6-SLOT-004.
    """
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
    file = with_revision(wanted.file, wanted.model.file_bytes, revision)
    return _Content(file, wanted.params, wanted.model, wanted.trailer)


def _check_room(planned: PlannedModel, wanted: _Content) -> None:
    """Raise N6-SLOT-003 for an image that would reach into the slot that stays."""
    for slot in planned.slots:
        check_room(len(wanted.file), slot.file_bytes, planned.file)
        check_room(len(wanted.params), slot.params_bytes, planned.params_file)


def _kept(contents: Sequence[_Content | None], wanted: Trailer, running: Running | None) -> int | None:
    """Return the slot that an update leaves alone, None if there is no model to keep."""
    own = _own(contents, wanted)
    for index, content in own:
        if running == Running(index, content.trailer.revision):
            return index
    newest = _newest(contents, wanted)
    others = [index for index, _ in own if index != newest]
    return others[0] if others else newest


def _own(contents: Sequence[_Content | None], wanted: Trailer) -> list[tuple[int, _Content]]:
    """Return the slots that hold this model, with any weights."""
    name = wanted.identity.model
    return [(index, each) for index, each in enumerate(contents) if each and each.trailer.identity.model == name]


def _newest(contents: Sequence[_Content | None], wanted: Trailer) -> int | None:
    """Return the slot that the firmware tries first."""
    newest: tuple[int, int] | None = None
    for index, content in _own(contents, wanted):
        revision = content.trailer.revision
        if newest is None or 0 < (revision - newest[1]) % _REVISIONS < _REVISIONS // 2:
            newest = index, revision
    return newest[0] if newest else None


def _same(content: _Content, wanted: _Content) -> bool:
    """Return true if both models are equal, apart from the revision."""
    one, other = content.trailer, wanted.trailer
    return (one.crc32, one.identity, one.test) == (other.crc32, other.identity, other.test) and (
        content.params == wanted.params and content.model.file_bytes == wanted.model.file_bytes
    )


def _images(planned: PlannedModel, slot: int, content: _Content) -> tuple[tuple[str, int, bytes], ...]:
    place = planned.slots[slot]
    # Weights come first: an interruption then leaves the older file, whose revision the firmware does not take.
    weights = [(planned.params_file, place.params, content.params)] if planned.params_file else []
    return (*weights, (planned.file, place.file, content.file))


def _image(planned: PlannedModel, folder: Path) -> _Content:
    file = read_bytes(folder / planned.file)
    params = read_bytes(folder / planned.params_file) if planned.params_file else b""
    model = parse_reloc_file(file, planned.file)
    trailer = read_trailer(file, model.file_bytes)
    if trailer is None:
        raise N6Error(
            "N6-FLASH-022", "is not an image for the flash slot of a model", where=planned.file, hint="build again"
        )
    return _Content(file, params, model, trailer)


def _content(slot: ModelSlot, read: Read) -> _Content | None:
    """Return the content of a slot, None if it holds no valid model.

    It raises N6-SLOT-004 for a model of a newer n6build, which must not be overwritten.
    """
    model = _model(slot, read)
    if model is None:
        return None
    data = _stored(model.data, slot.file, slot.file_bytes, model.file_bytes, read)
    layout = newer_layout(data, model.file_bytes)
    if layout is not None:
        what = f"contains a model of a newer n6build (layout {layout}; this one writes {LAYOUT})"
        hint = "use the newer n6build, or run scons flash-all, which overwrites the whole flash"
        raise N6Error("N6-SLOT-004", what, where=f"slot at 0x{slot.file:08X}", hint=hint)
    trailer = read_trailer(data, model.file_bytes)
    if trailer is None:
        return None
    params = _params(model, trailer, slot, read)
    return None if params is None else _Content(data, params, model, trailer)


def _model(slot: ModelSlot, read: Read) -> RelocFile | None:
    """Return the model in a slot without its weights, None if there is no model.

    The weights are left out since the board is slow to read.
    """
    data = b""
    while len(data) < slot.file_bytes:
        data = _grown(data, slot.file, min(max(_BEGINNING, 2 * len(data)), slot.file_bytes), read)
        try:
            return parse_reloc_file(data, "slot")
        except N6Error as error:
            # A model that ends too early is longer than the bytes read so far.
            if error.id != "N6-RELOC-031":
                return None
    return None


def _grown(data: bytes, address: int, size: int, read: Read) -> bytes:
    """Return data extended to at least `size` bytes.

    Args:
        data: The bytes at the address that were already read.
        address: Address of the data.
        size: Bytes that are needed.
        read: read(address, bytes) reads the board's flash.
    """
    return data if len(data) >= size else data + read(address + len(data), size - len(data))


def _stored(data: bytes, address: int, limit: int, file_bytes: int, read: Read) -> bytes:
    """Return a file in its slot with its trailer and self-test input.

    Missing parts are left out. `data` is the beginning of the file.
    """
    data = _grown(data, address, min(trailer_offset(file_bytes) + TRAILER_BYTES, limit), read)
    end = stored_bytes(data, file_bytes)
    return _grown(data, address, min(end, limit), read)[:end]


def _params(model: RelocFile, trailer: Trailer, slot: ModelSlot, read: Read) -> bytes | None:
    """Return separate weights with their trailer, None if they are of another model.

    A model without separate weights has none: the result is empty.
    """
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
    """Return the models that the board last reported, empty if unknown.

    Args:
        record: Path of the board's record.
    """
    try:
        values: Any = parse_json(content_of(_running_path(record)))
        return {name: Running(int(each["slot"]), int(each["revision"])) for name, each in values.items()}
    except (OSError, *WRONG_FIELDS):
        return {}


def remember_running(record: Path, models: Mapping[str, tuple[int, int]]) -> None:
    """Remember the models that the board reported; other models keep their entries.

    Args:
        record: Path of the board's record.
        models: Slot and revision by name, as the firmware printed them.
    """
    running = {**read_running(record), **{name: Running(*each) for name, each in models.items()}}
    values = {name: {"slot": each.slot, "revision": each.revision} for name, each in sorted(running.items())}
    write_atomically(_running_path(record), to_json(values), durable=True)


def check_running(
    updates: Sequence[Update], models: Mapping[str, tuple[int, int]], refused: Mapping[tuple[str, int], str]
) -> None:
    """Check that the started board runs the programmed models.

    Args:
        updates: The programmed models.
        models: Slot and revision of each running model.
        refused: The board's reason for each refused model, by name and slot.

    Raises:
        N6Error: N6-FLASH-020 if the board runs another model than the programmed one.
    """
    for update in updates:
        stays = models.get(update.model)
        if stays == (update.slot, update.revision):
            continue
        why = refused.get((update.model, update.slot), "no reason given")
        still = f"it still runs slot {LETTERS[stays[0]]}, revision {stays[1]}" if stays else "no model is left"
        raise N6Error(
            "N6-FLASH-020",
            f"the board rejects model {update.model} in slot {update.letter}, revision {update.revision}: {why}; "
            f"{still}",
            hint="correct the model and run scons flash-model; the older model is still on the board",
        )
