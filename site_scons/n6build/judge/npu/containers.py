"""Containers of relocatable blobs: their sections, relocations and patches.

A container has a blob and the list of its words that ST's loader changes before the blob runs: to a
relocated word it adds the address of a buffer or a pool, of a patched word it replaces some bits.
Until then the word holds an offset from that address. The loader trusts a container; here each
offset, count and place is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from n6build.base.errors import N6Error
from n6build.describe.formats.npu_blob import CONTAINERS, ContainerLayout

# The upper half of the first word of all versions.
_FAMILY = 0xECBF
_LAYOUTS = {each.magic: each for each in CONTAINERS}
_RELOCATIONS_WORD, _PATCHES_WORD = 1, 2
# Name, count of places, offset of their list.
_RELOCATION_WORDS = 3
# A network has a relocation for each input, output and relative pool.
_MOST_ENTRIES = 1 << 10
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Relocation:
    """Words of a blob to which the loader adds an address.

    Attributes:
        name: Name of the address: a pool such as 'xSPI2', or '_user_io_input_0'.
        places: Indices of the words, from the first instruction on.
    """

    name: str
    places: tuple[int, ...]


@dataclass(frozen=True)
class Patch:
    """Words of a blob of which a program replaces some bits.

    Attributes:
        name: Name of the value.
        places: Indices of the words, from the first instruction on.
        mask: Bits that are replaced. For a negative shift, ST's loader shifts the mask, too.
        shift: The value is shifted right by these bits; left if negative.
    """

    name: str
    places: tuple[int, ...]
    mask: int
    shift: int


@dataclass(frozen=True)
class Container:
    """A container around a blob.

    Attributes:
        layout: Version of the container.
        relocations: Relocated words by their address.
        patches: Patched words by their value.
    """

    layout: ContainerLayout
    relocations: tuple[Relocation, ...]
    patches: tuple[Patch, ...]

    @property
    def title(self) -> str:
        """Return the version, such as '0xECBF0030 of Core 2.2'."""
        return f"0x{self.layout.magic:08X} of Core {self.layout.releases}"

    @property
    def bases(self) -> dict[int, str]:
        """Return the name of the address that the loader adds to each word."""
        return {place: each.name for each in self.relocations for place in each.places}

    @property
    def notes(self) -> dict[int, str]:
        """Return the loader's changes as text, by the index of the word."""
        notes = {place: f"+ {name}" for place, name in self.bases.items()}
        for patch in self.patches:
            for place in patch.places:
                notes[place] = f"{notes.get(place, '')} patched by {patch.name}, mask 0x{patch.mask:08X}".strip()
        return notes


def is_container(words: Sequence[int]) -> bool:
    """Return whether words begin with a container of a known or an unknown version."""
    return bool(words) and words[0] >> 16 == _FAMILY


def layout_of(words: Sequence[int], where: str) -> ContainerLayout | None:
    """Return the version of a container, or None if the words do not begin with one.

    Raises:
        N6Error: N6-NPU-002 for an unknown version, or a header that is cut off.
    """
    if not is_container(words):
        return None
    layout = _LAYOUTS.get(words[0])
    if layout is None:
        known = ", ".join(f"0x{each.magic:08X} (Core {each.releases})" for each in CONTAINERS)
        hint = f"known containers are {known}: compile the network with one of these releases, or update n6build"
        what = f"is in a container 0x{words[0]:08X}, which is unknown"
        raise N6Error("N6-NPU-002", what, where=f"{where}, word 0", hint=hint)
    if len(words) < layout.header_words:
        _refuse(where, 0, f"the container has {len(words)} of the {layout.header_words} words of its header")
    return layout


def blob_in_container(words: Sequence[int], layout: ContainerLayout, where: str) -> int:
    """Return the index of the blob's first word.

    Raises:
        N6Error: N6-NPU-002 if it is not behind the header in the container.
    """
    offset = words[layout.blob_word]
    at, rest = divmod(offset, 4)
    if rest or not layout.header_words <= at < len(words):
        what = f"the container places its blob at byte {offset}, but has {4 * len(words)} bytes"
        if at < layout.header_words:
            what = f"the container places its blob at byte {offset}, in its header"
        _refuse(where, layout.blob_word, what)
    return at


def read_container(words: Sequence[int], layout: ContainerLayout, count: int, where: str) -> Container:
    """Read the relocations and patches of a container.

    Args:
        words: Words of the container.
        layout: Version of the container.
        count: Words of the blob's instructions.
        where: Place for messages.

    Raises:
        N6Error: N6-NPU-002 for damaged tables.
    """
    tables = _Tables(words, layout, count, where)
    relocations = [
        Relocation(tables.name(entry, words[entry]), tables.places(entry, words[entry + 1], words[entry + 2]))
        for entry in tables.entries(_RELOCATIONS_WORD, _RELOCATION_WORDS, "relocation")
    ]
    patches = []
    for entry in tables.entries(_PATCHES_WORD, layout.patch_words, "patch") if layout.patch_words else ():
        name, *shift, mask, number, places = words[entry : entry + layout.patch_words]
        right = (shift[0] ^ 1 << 31) - (1 << 31) if shift else 0
        if abs(right) > 63:
            _refuse(where, entry + 1, f"the patch shifts its value by {right} bits")
        patches.append(Patch(tables.name(entry, name), tables.places(entry, number, places), mask, right))
    return Container(layout, tuple(relocations), tuple(patches))


class _Tables:
    """The tables of a container.

    Offsets in a table count from its first word, in bytes.
    """

    def __init__(self, words: Sequence[int], layout: ContainerLayout, count: int, where: str) -> None:
        self._words = words
        self._header_words = layout.header_words
        self._count = count
        self._where = where
        self._table = 0
        self._kind = ""
        # Each place is a word of the container, so lists that overlap are damaged. This also limits
        # the time for a hostile container.
        self._left = len(words)

    def entries(self, header_word: int, size: int, kind: str) -> range:
        """Return the indices of the first words of a table's entries."""
        self._kind = kind
        offset = self._words[header_word]
        if offset == 0:
            return range(0)
        self._table, rest = divmod(offset, 4)
        if rest or not self._header_words <= self._table < len(self._words):
            _refuse(self._where, header_word, f"the container places its {kind} table at byte {offset}")
        number = self._words[self._table]
        first = self._table + 1
        if number > min(_MOST_ENTRIES, (len(self._words) - first) // size):
            _refuse(self._where, self._table, f"the {kind} table announces {number} entries")
        return range(first, first + number * size, size)

    def name(self, entry: int, offset: int) -> str:
        """Return the name of an entry, at this offset."""
        at, skip = divmod(offset, 4)
        at += self._table
        some = self._words[at : at + _LONGEST_NAME // 4 + 2]
        data = b"".join(word.to_bytes(4, "little") for word in some)[skip:]
        name, end, _ = data.partition(b"\0")
        text = name.decode("latin-1")
        if not end or not 0 < len(text) <= _LONGEST_NAME or not (text.isascii() and text.isprintable()):
            _refuse(self._where, entry, f"the {self._kind} has no name at byte {offset} of its table")
        return text

    def places(self, entry: int, number: int, offset: int) -> tuple[int, ...]:
        """Return the words that an entry changes."""
        at, rest = divmod(offset, 4)
        at += self._table
        if rest or at + number > len(self._words) or number > self._left:
            what = f"the {self._kind} announces {number} places at byte {offset} of its table"
            _refuse(self._where, entry, f"{what}, but the container has {4 * len(self._words)} bytes")
        self._left -= number
        found = tuple(self._words[at : at + number])
        outside = max(found, default=0)
        if outside >= self._count and found:
            what = f"the {self._kind} changes word {outside} of the blob, which has {self._count}"
            _refuse(self._where, at + found.index(outside), what)
        return found


def _refuse(where: str, word: int, what: str) -> NoReturn:
    hint = "compile the network again, or copy its blobs again: they are damaged"
    raise N6Error("N6-NPU-002", what, where=f"{where}, word {word}", hint=hint)
