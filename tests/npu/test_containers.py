"""Containers of relocatable blobs: each version, whole and damaged."""

from __future__ import annotations

import ctypes
import random
import re
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from blob_containers import in_container
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.formats.npu_blob import CONTAINERS, MAGIC, ContainerLayout
from n6build.judge.npu.blobs import MAX_BYTES, Blob, blob_of_words, blobs_in_binary, read_blobs
from n6build.judge.npu.containers import Container, Patch, Relocation
from n6build.judge.npu.disassemble import (
    End,
    Instruction,
    Label,
    Poll,
    Write,
    WriteSeries,
    blob_lines,
    instructions,
)
from n6build.judge.npu.moved import moves_of
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from samples import sample, sample_core
from virtual_board.npu.model import END, NPU, as_bytes, assembled, label, offset_of, poll, unit, write_bits, write_many

NAMES = names_of(NPU)
V20, V22, V30 = CONTAINERS
# Releases of ST Edge AI Core in the samples, with the container that their compiler writes.
RELEASES = {"2.1": V20, "2.2": V22, "3.0": V30, "4.0.0": V30, "4.0.1": V30}
# Networks of the samples with containers: version, and names of the relocations of each blob.
NETWORKS = {
    "npu/fallguard-ssd-core-2.1/network_ecblobs.h": (
        V20,
        [{"_user_io_input_0": 2, "_user_io_output_2": 2}, {"_user_io_output_0": 2, "_user_io_output_1": 2}],
    ),
    "npu/yolox-core-2.2/network_ecblobs.h": (V22, [{"_user_io_input_0": 2}]),
    "npu/reid-mobilenetv2-core-3.0/reid_ecblobs.h": (V30, [{"_user_io_output_0": 2}]),
    "npu/square-seg-core-4.0.1/network_ecblobs.h": (V30, [{"xSPI2": 26}]),
}
ADDRESS, SIZE = 0x40, 64
ENGINE = unit("STRENG", 2)
# Words 2 to 5 are ADDR, FSIZE, DEPTH and STRD of a stream engine.
BLOB = assembled(
    label(3),
    write_many(ENGINE, offset_of("STRENG", "ADDR"), [ADDRESS, SIZE, 0, 0]),
    write_bits(ENGINE, 0, 0, 1, 1),
    poll(ENGINE, 0, 31, 31, 0),
    END,
)
RELOCATIONS = (Relocation("_user_io_input_0", (2,)), Relocation("xSPI2", (3, 5)))
PATCHES = (Patch("key", (4,), 0x00FF_FF00, 0),)
SECOND = 1.0


def example(layout: ContainerLayout) -> list[int]:
    """Return a container with relocations, and with patches if the version has them."""
    return in_container(layout, BLOB, RELOCATIONS, PATCHES if layout.patch_words else ())


def id_of(layout: object) -> str:
    return f"0x{layout.magic:08X}" if isinstance(layout, ContainerLayout) else str(layout)


each_layout = pytest.mark.parametrize("layout", CONTAINERS, ids=id_of)
PLACES = st.lists(st.integers(0, BLOB[1] - 1), max_size=8).map(tuple)
LETTERS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=20)
ALL_RELOCATIONS = st.lists(st.builds(Relocation, LETTERS, PLACES), max_size=5)


def all_patches(layout: ContainerLayout) -> st.SearchStrategy[list[Patch]]:
    shift = st.integers(-31, 63) if layout.patch_words == 5 else st.just(0)
    patch = st.builds(Patch, LETTERS, PLACES, st.integers(0, 0xFFFF_FFFF), shift)
    return st.lists(patch, max_size=5 if layout.patch_words else 0)


@each_layout
@given(data=st.data())
def test_what_was_put_into_a_container_is_read(layout: ContainerLayout, data: st.DataObject) -> None:
    relocations, patches = data.draw(ALL_RELOCATIONS), data.draw(all_patches(layout))
    blob = blob_of_words(in_container(layout, BLOB, relocations, patches), "blob")
    assert blob.words == tuple(BLOB[2 : 2 + BLOB[1]])
    assert blob.container == Container(layout, tuple(relocations), tuple(patches))


@each_layout
def test_a_relocated_word_is_shown_with_the_address_that_is_added(layout: ContainerLayout) -> None:
    _, _, address, size, *rest = blob_lines(blob_of_words(example(layout), "blob"), NAMES)
    assert address == "  STRENG2.ADDR         = 0x00000040  + _user_io_input_0"
    assert size.endswith("+ xSPI2")
    assert rest[0].endswith("patched by key, mask 0x00FFFF00") == bool(layout.patch_words)


def test_tables_and_polls_have_the_changes_of_all_their_words() -> None:
    program = assembled(write_many(unit("ARITH"), 0x400, [0] * 10), poll(ENGINE, 0, 31, 31, 0), END)
    blob = blob_of_words(in_container(V30, program, [Relocation("a", (1, 2, 9)), Relocation("b", (10, 13))]), "blob")
    lines = list(blob_lines(blob, NAMES))[1:]
    assert [line.partition("  +")[2].strip() for line in lines] == ["a", "a  + b", "b", ""]


def test_the_address_of_a_relocated_engine_is_unknown_but_its_buffer_is_known() -> None:
    engine = [
        write_many(ENGINE, offset_of("STRENG", "ADDR"), [ADDRESS, SIZE]),
        write_many(ENGINE, offset_of("STRENG", "CTRL"), [1]),
        poll(ENGINE, 0, 31, 31, 0),
    ]
    cleared = [write_many(ENGINE, 0, [1 << 30]), write_many(ENGINE, offset_of("STRENG", "ADDR"), [0x3400_0000, SIZE])]
    program = assembled(label(1), *engine, label(2), *cleared, *engine[1:], END)
    blob = blob_of_words(in_container(V22, program, [Relocation("xSPI2", (2,))]), "blob")
    found = [moves_of(epoch).engines[0] for epoch in epochs_of_blob(blob, NAMES)]
    assert [(each.address, each.base) for each in found] == [(None, "xSPI2"), (0x3400_0000, "")]


# Damage, as (word, value), and its error. The containers have these words:
# 0x20: header 0-3, relocations 4-20, blob from 22; 0x50: header 0-5, relocations 6-22, patches 23-30, blob from 32.
DAMAGED = [
    ("an unknown version", V20, (0, 0xECBF_0060), "word 0", "a container 0xECBF0060, which is unknown"),
    ("the blob behind the end", V20, (3, 4000), "word 3", "places its blob at byte 4000, but has "),
    ("the blob in the header", V22, (4, 8), "word 4", "places its blob at byte 8, in its header"),
    ("the blob in the tables", V22, (4, 24), "word 6", "begins with 0x00000002; a blob begins with 0xCA057A7A"),
    ("relocations in the header", V20, (1, 4), "word 1", "places its relocation table at byte 4"),
    ("relocations not at a word", V30, (1, 26), "word 1", "places its relocation table at byte 26"),
    ("relocations behind the end", V30, (1, 1 << 20), "word 1", "places its relocation table at byte 1048576"),
    ("too many relocations", V30, (6, 1 << 31), "word 6", "the relocation table announces 2147483648 entries"),
    ("a name behind the end", V20, (5, 4000), "word 5", "the relocation has no name at byte 4000 of its table"),
    ("an empty name", V20, (5, 2), "word 5", "the relocation has no name at byte 2 of its table"),
    ("too many places", V20, (6, 9999), "word 5", "announces 9999 places at byte 48 of its table, but"),
    ("places not at words", V20, (7, 49), "word 5", "announces 1 places at byte 49 of its table, but"),
    ("places behind the end", V20, (7, 4000), "word 5", "announces 1 places at byte 4000 of its table, but"),
    ("a place behind the blob", V20, (16, 11), "word 16", "changes word 11 of the blob, which has 11"),
    ("patches in the header", V30, (2, 8), "word 2", "places its patch table at byte 8"),
    ("too many patches", V30, (23, 9), "word 23", "the patch table announces 9 entries"),
    ("a far shift", V30, (25, 64), "word 25", "the patch shifts its value by 64 bits"),
]


@pytest.mark.parametrize(
    ("layout", "change", "place", "what"), [case[1:] for case in DAMAGED], ids=[case[0] for case in DAMAGED]
)
def test_damage_is_reported_with_its_word(
    layout: ContainerLayout, change: tuple[int, int], place: str, what: str
) -> None:
    words = example(layout)
    words[change[0]] = change[1]
    with pytest.raises(N6Error) as error:
        blob_of_words(words, "blob")
    assert error.value.id == "N6-NPU-002"
    assert re.search(what, error.value.what), error.value
    assert error.value.where == f"blob, {place}"


def test_an_unknown_version_names_the_known_ones(tmp_path: Path) -> None:
    file = tmp_path / "blob.bin"
    file.write_bytes(as_bytes([0xECBF_0060, 24, 0, 0, 0, 0, *BLOB]))
    with pytest.raises(N6Error, match="blob.bin, word 0: error N6-NPU-002: is in a container 0xECBF0060") as error:
        read_blobs(file)
    assert "0xECBF0020 (Core 2.0 and 2.1), 0xECBF0030 (Core 2.2), 0xECBF0050 (Core 3.0 and later)" in str(error.value)


def test_a_relocated_instruction_is_damage() -> None:
    """The loader would make another instruction of it."""
    blob = blob_of_words(in_container(V30, BLOB, [Relocation("xSPI2", (1,))]), "blob")
    with pytest.raises(N6Error, match="changes an instruction and not a value") as error:
        list(instructions(blob))
    assert error.value.id == "N6-NPU-003"


def damaged(words: Sequence[int], rng: random.Random) -> list[int]:
    """Return a copy with one to three damages, most of them in front of the blob."""
    copy = list(words)
    begin = copy.index(MAGIC)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(min(len(copy), begin + 2)) if rng.randrange(4) else rng.randrange(len(copy))
        match rng.randrange(8):
            case 0:
                copy[at] ^= 1 << rng.randrange(32)
            case 1:
                copy[at] = rng.choice((0, 1, 4, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, len(copy), 4 * len(copy)))
            case 2:
                copy[at] = rng.randrange(6 * len(copy))
            case 3:
                copy[at] = copy[rng.randrange(len(copy))]
            case 4:
                copy[at] = (copy[at] + rng.choice((-8, -4, -1, 1, 4, 8))) & 0xFFFF_FFFF
            case 5:
                del copy[at]
            case 6:
                copy[at:at] = copy[at : at + rng.randint(1, 8)]
            case _:
                copy = copy[: rng.randint(1, len(copy))] if not rng.randrange(4) else copy
        copy = copy or [0]
    return copy


def outcomes_of_damage(layout: ContainerLayout, count: int, seed: int) -> dict[str, int]:
    """Read damaged containers, and return the number of each outcome."""
    rng = random.Random(seed)
    found: dict[str, int] = {}
    for _ in range(count):
        words = damaged(example(layout), rng)
        begin = time.process_time()
        try:
            for blob in blobs_in_binary(as_bytes(words), "blob.bin"):
                list(blob_lines(blob, NAMES))
                list(epochs_of_blob(blob, NAMES))
            outcome = "read"
        except N6Error as error:
            outcome = error.id
        assert time.process_time() - begin < SECOND
        found[outcome] = found.get(outcome, 0) + 1
    return found


@each_layout
@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_damaged_containers_are_read_or_refused(layout: ContainerLayout, count: int) -> None:
    found = outcomes_of_damage(layout, count, layout.magic)
    assert found.keys() <= {"read", "N6-NPU-001", "N6-NPU-002", "N6-NPU-003"}
    # Enough damage must be found, and enough must pass the first checks.
    assert min(found["read"], found["N6-NPU-002"], found["N6-NPU-003"]) > count // 100


@each_layout
def test_a_container_that_repeats_one_long_list_is_refused_in_a_second(layout: ContainerLayout) -> None:
    """A thousand entries that all name the same million places."""
    places = tuple(range(9)) * 30_000
    words = in_container(layout, [MAGIC, 9, *[END[0]] * 9], [Relocation("a" * 200, places)])
    table = words[1] // 4
    entry = words[table + 1 : table + 4]
    # The entries get their own table behind the blob; offsets count from this table.
    moved = 4 * (len(words) - table)
    entry = [(entry[0] - moved) & 0xFFFF_FFFF, entry[1], (entry[2] - moved) & 0xFFFF_FFFF]
    words[1] = 4 * len(words)
    words += [1000, *entry * 1000]
    begin = time.process_time()
    with pytest.raises(N6Error, match="N6-NPU-002"):
        blob_of_words(words, "blob")
    assert time.process_time() - begin < SECOND
    assert 4 * len(words) < MAX_BYTES


# ST's loader, compiled for this machine from the sources of each release.


@dataclass(frozen=True)
class Loader:
    """ST's loader of a release, which relocates and patches a blob."""

    library: ctypes.CDLL
    release: str

    @property
    def version(self) -> tuple[int, ...]:
        return tuple(int(number) for number in self.release.split("."))

    def load(self, container: Sequence[int], bases: Mapping[str, int], values: Mapping[str, int]) -> list[int]:
        """Return the blob with these addresses and values, with its header."""
        data = (ctypes.c_uint64 * (len(container) // 2 + 1)).from_buffer_copy(
            struct.pack(f"<{len(container)}I", *container) + bytes(8 + len(container) % 2 * 4)
        )
        copy = self.library.ec_copy_program if self.version < (2, 2) else self.library.ec_copy_blob
        size = ctypes.c_uint(0)
        assert copy(*self._copied(None, data), ctypes.byref(size))
        blob = (ctypes.c_uint64 * (size.value // 2 + 1))()
        assert copy(*self._copied(blob, data), ctypes.byref(size))
        for table, names, change in (
            ("reloc", bases, self._relocate),
            *((("patch", values, self._patch),) if self.version >= (2, 2) else ()),
        ):
            get = self.library[f"ec_get_{table}_table_ptr"]
            get.restype = ctypes.c_void_p
            found = get(data)
            plural = "patches" if table == "patch" else f"{table}s"
            for index in range(self.library[f"ec_get_num_{plural}"](ctypes.c_void_p(found))):
                name_of = self.library[f"ec_get_{table}_id"]
                name_of.restype = ctypes.c_char_p
                change(ctypes.c_void_p(found), blob, index, names[name_of(ctypes.c_void_p(found), index).decode()])
        return list(struct.unpack(f"<{size.value}I", bytes(blob)[: 4 * size.value]))

    def _copied(self, blob: object, data: object) -> tuple[object, object]:
        return (data, blob) if self.version < (2, 2) else (blob, data)

    def _relocate(self, table: object, blob: object, index: int, base: int) -> None:
        first = (blob, table) if self.version >= (3,) else (table, blob)
        assert self.library.ec_reloc(*first, index, ctypes.c_uint32(base), ctypes.byref(ctypes.c_uint32(0)))

    def _patch(self, table: object, blob: object, index: int, value: int) -> None:
        if self.version >= (3,):
            assert self.library.ec_patch(blob, table, index, ctypes.c_uint64(value))
        else:
            assert self.library.ec_patch(table, blob, index, ctypes.c_uint32(value & 0xFFFF_FFFF))


@pytest.fixture(scope="module", params=RELEASES)
def loader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loader:
    release: str = request.param
    source = next(sample_core(release).rglob("ecloader.c"))
    magic = re.search(r"ECASM_BINARY_MAGIC\s+(0x\w+)", (source.parent / "ec.h").read_text())
    assert magic
    assert int(magic[1], 16) == RELEASES[release].magic
    library = tmp_path_factory.mktemp("loader") / "loader.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", f"-I{source.parent}", source, "-o", library], check=True)
    return Loader(ctypes.CDLL(str(library)), release)


def loaded(blob: Blob, bases: Mapping[str, int], values: Mapping[str, int]) -> list[int]:
    """Return the blob with its header as the loader has to make it."""
    words = list(blob.words)
    assert blob.container
    for relocation in blob.container.relocations:
        for place in relocation.places:
            words[place] = (words[place] + bases[relocation.name]) & 0xFFFF_FFFF
    for patch in blob.container.patches:
        left = max(0, -patch.shift)
        mask = patch.mask << left & 0xFFFF_FFFF
        value = values[patch.name] << left >> max(0, patch.shift) & mask
        for place in patch.places:
            words[place] = words[place] & ~mask | value
    return [MAGIC, len(words), *words]


@given(data=st.data())
def test_st_s_loader_makes_the_same_blob(loader: Loader, data: st.DataObject) -> None:
    layout = RELEASES[loader.release]
    relocations, patches = data.draw(ALL_RELOCATIONS), data.draw(all_patches(layout))
    words = in_container(layout, BLOB, relocations, patches)
    numbers = st.integers(0, 0xFFFF_FFFF)
    bases = {each.name: data.draw(numbers) for each in relocations}
    values = {each.name: data.draw(numbers) for each in patches}
    assert loader.load(words, bases, values) == loaded(blob_of_words(words, "blob"), bases, values)


def real_containers(network: str) -> Iterator[tuple[Blob, list[int]]]:
    """Yield a network's blobs in containers, with the words of each."""
    path = sample(network)
    bodies = {
        name: [int(word, 16) >> shift & 0xFFFF_FFFF for word in re.findall(r"0x(\w+)UL", body) for shift in (0, 32)]
        for name, body in re.findall(r"uint64_t (\w+) ?\[\d*\]\s*=\s*\{([^}]*)\}", path.read_text())
    }
    for blob in read_blobs(path):
        if blob.container:
            yield blob, bodies[blob.name]


def test_st_s_loader_makes_the_same_of_real_blobs(loader: Loader) -> None:
    layout = RELEASES[loader.release]
    for network in (each for each, (made_by, _) in NETWORKS.items() if made_by is layout):
        for blob, words in real_containers(network):
            assert blob.container
            bases = {each.name: 0x3410_0000 + 0x1_0000 * at for at, each in enumerate(blob.container.relocations)}
            assert loader.load(words, bases, {}) == loaded(blob, bases, {})


@pytest.mark.parametrize("network", NETWORKS)
def test_relocations_of_real_blobs_are_addresses_of_stream_engines(network: str) -> None:
    layout, relocations = NETWORKS[network]
    blobs = [blob for blob, _ in real_containers(network)]
    assert [
        {each.name: len(each.places) for each in blob.container.relocations} for blob in blobs if blob.container
    ] == relocations
    for blob in blobs:
        assert blob.container
        assert (blob.container.layout, blob.container.patches) == (layout, ())
        changed = [line for line in blob_lines(blob, NAMES) if "  + " in line]
        assert len(changed) == sum(relocations[blobs.index(blob)].values())
        assert all(re.match(r"  STRENG\d\.(ADDR|LIMITADDR) ", line) for line in changed)


LISTINGS = "npu/fallguard-ssd-core-2.1/trace"


def listed(instruction: Instruction, bases: Mapping[int, str]) -> str:
    """Return an instruction in the notation of ST's listings."""

    def values(first: int, *numbers: int) -> str:
        texts = (f"0x{number:x}" for number in numbers)
        named = ((bases.get(instruction.at + first + at), text) for at, text in enumerate(texts))
        return " ".join(f"{base}({text})" if base else text for base, text in named)

    match instruction:
        case Label(number=number):
            return f"label 0x{number:x}"
        case End():
            return "irq 0x0"
        case WriteSeries(unit=number, offset=offset, step=step):
            return f"burstwrite{'inc' if step else ''} {number} {offset // 4} {values(1, *instruction.values)}"
        case Write(unit=number, offset=offset, value=value, low=low, high=high):
            bits = f"[{low}]" if low == high else f"[{high}:{low}]"
            kind, bits = ("write", "") if (low, high) == (0, 31) else ("writefield", f"{bits} ")
            return f"{kind} {number} {offset // 4} {bits}{values(1, value)}"
        case Poll(unit=number, offset=offset, low=low, interval=interval):
            return f"poll {number} {offset // 4} [{low}] 0x{instruction.value:x} {interval}"


def test_blobs_decode_to_the_listings_of_st_s_compiler() -> None:
    folder = sample(LISTINGS)
    blobs = read_blobs(folder.parent / "network_ecblobs.h")
    for blob in blobs:
        bases = blob.container.bases if blob.container else {}
        lines = [listed(each, bases) for each in instructions(blob)]
        listing = folder / f"debug_{blob.name.removesuffix('_reloc')}.s"
        assert lines == [" ".join(line.split()) for line in listing.read_text().splitlines() if line.strip()]
    assert len(blobs) == 7
