"""romfs images in OpenMV's form, and their descriptions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.place.image.romfs import RomfsFile, encode_number, make_romfs
from n6build.place.image.romfs_manifest import check_size, read_manifest
from romfs_images import read_romfs
from samples import sample

NAMES = st.text("abcxyz_.0123456789", min_size=1, max_size=20)
ALIGNMENTS = st.sampled_from([1, 4, 16, 32, 4096])
FILES = st.lists(
    st.builds(RomfsFile, NAMES, st.binary(max_size=400), ALIGNMENTS), max_size=6, unique_by=lambda f: f.name
)


@given(FILES)
def test_files_read_back_and_are_aligned(files: list[RomfsFile]) -> None:
    image = make_romfs(files)
    placed = read_romfs(image)
    assert [(f.name, image[f.offset : f.offset + f.size]) for f in placed] == [(f.name, f.data) for f in files]
    assert all(place.offset % file.alignment == 0 for place, file in zip(placed, files, strict=True))


def test_the_bytes_of_a_small_image() -> None:
    image = make_romfs([RomfsFile("a", b"hello", 16)])
    assert image[:3] == b"\xd2\xcd\x31"
    assert image[3:16] == b"\x80" * 12 + bytes([len(image) - 16])
    assert image[16:24] == b"\x05" + b"\x80" * 6 + bytes([len(image) - 24])
    # The entry has a name, then kind and length of the data, up to a multiple of 16.
    assert image[24:] == b"\x01a\x02" + b"\x80" * 4 + b"\x05" + b"hello"
    assert encode_number(0x14A6B1) == b"\xd2\xcd\x31"


@pytest.mark.parametrize("name", ["", "ä", "a/b", "x" * 128, "a\n"])
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(N6Error, match="N6-ROMFS-001"):
        make_romfs([RomfsFile(name, b"", 4)])


def test_two_files_of_one_name() -> None:
    with pytest.raises(N6Error, match="two files are called 'a'"):
        make_romfs([RomfsFile("a", b"", 4), RomfsFile("a", b"", 4)])


def manifest(folder: Path, *entries: str, size: str = '"0x1800000"') -> Path:
    path = folder / "romfs_config.json"
    path.write_text(f'{{"0": {{"size": {size}, "entries": [\n{",".join(entries)}]}}}}')
    return path


def test_entries_with_labels_wildcards_and_variables(tmp_path: Path) -> None:
    for name in ("m/face.tflite", "m/face.txt", "m/pose.tflite", "b.cascade"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    path = manifest(
        tmp_path,
        '{"type": "tflite", "path": "{TOP}/m/*.tflite", "alignment": 64, "profile": "noextmem"}',
        '{"type": "haar", "path": "eye.xml", "stages": 0, "enabled": false}',
        '{"type": "bin", "path": "b.cascade"}',
    )
    (partition,) = read_manifest(path, tmp_path)
    assert partition.size == 24 << 20
    assert [(e.name, e.alignment, e.kind, e.profile) for e in partition.entries] == [
        ("face.tflite", 64, "model", "noextmem"),
        ("face.txt", 4, "file", ""),
        ("pose.tflite", 64, "model", "noextmem"),
        ("b.cascade", 4, "file", ""),
    ]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("../shared/*.bin", ["s.bin"]),
        ("m/**/*.bin", ["a.bin", "b.bin", "c.bin"]),
        ("m/**/deep/*.bin", ["c.bin"]),
        ("m/[ab]/?.bin", ["a.bin", "b.bin"]),
    ],
)
def test_wildcards_find_files_in_folders_above_and_below(pattern: str, found: list[str], tmp_path: Path) -> None:
    for name in ("shared/s.bin", "own/m/b/b.bin", "own/m/b/deep/c.bin", "own/m/a/a.bin"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (partition,) = read_manifest(manifest(tmp_path / "own", f'{{"type": "bin", "path": "{pattern}"}}'), tmp_path)
    assert [each.name for each in partition.entries] == found


@pytest.mark.parametrize(
    ("entry", "id", "words"),
    [
        ('{"type": "haar", "path": "eye.xml"}', "N6-ROMFS-003", "romfs_config.json:2"),
        ('{"type": "tflite", "path": "{TOP}/none.tflite"}', "N6-ROMFS-003", "no file"),
        ('{"type": "bin", "path": "{HOME}/x"}', "N6-ROMFS-003", "{TOP}"),
        ('{"type": "bin", "path": "romfs_config.json", "alignment": 12}', "N6-ROMFS-004", "is not a power of two"),
        ('{"type": "tflite", "path": "romfs_config.json"}', "N6-ROMFS-004", "is not a supported model format"),
        ('{"type": "bin", "path": "romfs_config.json", "aligment": 4}', "N6-YAML", "alignment"),
        ('{"type": "gif", "path": "romfs_config.json"}', "N6-YAML", "gif"),
    ],
)
def test_mistakes_in_a_description(entry: str, id: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error) as caught:
        read_manifest(manifest(tmp_path, entry), tmp_path)
    assert caught.value.id.startswith(id)
    assert words in str(caught.value)


def test_a_partition_that_overflows_is_refused_by_size(tmp_path: Path) -> None:
    (partition,) = read_manifest(
        manifest(tmp_path, '{"type": "bin", "path": "romfs_config.json"}', size="100"), tmp_path
    )
    check_size(partition.number, partition.size, 100, "x")
    with pytest.raises(N6Error, match=r"N6-ROMFS-005: romfs partition 0 overflows by 25 bytes: 125 of 100 \(125.0%\)"):
        check_size(partition.number, partition.size, 125, "x")


# The tree has the files of OpenMV's description, at OpenMV's places.
def openmv_tree(folder: Path) -> Path:
    text = sample("romfs/openmv_n6_romfs_config.json").read_text()
    for name in re.findall(r"\{TOP\}/([\w./]+)", text):
        path = folder / "openmv" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    file = folder / "openmv/boards/OPENMV_N6/romfs_config.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def test_openmv_s_own_description_is_read_in_its_own_tree(tmp_path: Path) -> None:
    file = openmv_tree(tmp_path)
    (partition,) = read_manifest(file, tmp_path)
    assert (partition.number, partition.size) == ("0", 0x1800000)
    names = [entry.name for entry in partition.entries]
    assert names[0] == "fomo_face_detection.tflite"
    assert names[-3:] == [f"haarcascade_{what}.cascade" for what in ("eye", "smile", "frontalface")]
    assert {entry.kind for entry in partition.entries} == {"model", "cascade"}
    for entry in partition.entries:
        is_model = entry.kind == "model"
        assert entry.path.is_relative_to(tmp_path / "openmv/lib")
        assert (entry.alignment, entry.profile) == ((32, "default") if is_model else (4, ""))


def test_a_description_may_be_copied_into_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = openmv_tree(tmp_path)
    copied = tmp_path / "copied.json"
    copied.write_text(original.read_text())
    with pytest.raises(N6Error, match="N6-ROMFS-003: no file"):
        read_manifest(copied, tmp_path)
    monkeypatch.chdir(tmp_path / "openmv")
    assert len(read_manifest(copied, tmp_path)[0].entries) == len(read_manifest(original, tmp_path)[0].entries)


def test_a_model_that_is_relocatable_already_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "face.tflite").write_bytes(b"NBIN and more")
    (partition,) = read_manifest(manifest(tmp_path, '{"type": "tflite", "path": "face.tflite"}'), tmp_path)
    assert [(entry.name, entry.kind, entry.alignment) for entry in partition.entries] == [("face.tflite", "file", 32)]
