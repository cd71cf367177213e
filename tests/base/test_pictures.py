"""Picture files as RGB: formats, and files that are none."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from n6build.base import pictures
from n6build.base.errors import N6Error
from n6build.base.pictures import open_pictures, picture_files
from PIL import Image

RED = (200, 10, 20)


def saved(folder: Path, name: str, picture: Image.Image, **options: Any) -> Path:
    picture.save(folder / name, **options)
    return folder / name


def only(path: Path) -> Image.Image:
    (picture,) = open_pictures(path)
    return picture


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "CMYK", "L", "LA", "1", "YCbCr"])
def test_each_mode_becomes_rgb(mode: str, tmp_path: Path) -> None:
    name = "a.tif" if mode in ("CMYK", "YCbCr") else "a.png"
    picture = only(saved(tmp_path, name, Image.new("RGB", (3, 2), "white").convert(mode)))
    assert (picture.mode, picture.size) == ("RGB", (3, 2))
    assert picture.getpixel((0, 0)) == (255, 255, 255)


def test_sixteen_bits_are_cut_to_eight(tmp_path: Path) -> None:
    picture = only(saved(tmp_path, "a.png", Image.new("I;16", (2, 2), 0x8012)))
    assert picture.getpixel((0, 0)) == (0x80, 0x80, 0x80)


def test_transparent_pixels_are_black(tmp_path: Path) -> None:
    assert only(saved(tmp_path, "a.png", Image.new("RGBA", (1, 1), (*RED, 0)))).getpixel((0, 0)) == (0, 0, 0)


def test_exif_turns_the_picture(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    assert only(saved(tmp_path, "a.jpg", Image.new("RGB", (30, 20)), exif=exif)).size == (20, 30)


def test_an_animation_has_several_pictures(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "lime", "blue")]
    path = saved(tmp_path, "a.gif", frames[0], save_all=True, append_images=frames[1:])
    assert [each.getpixel((0, 0)) for each in open_pictures(path)] == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b.PNG", "a.png"):
        saved(tmp_path, name, Image.new("RGB", (1, 1)))
    (tmp_path / "notes.txt").write_text("no picture")
    assert [each.name for each in picture_files(tmp_path)] == ["a.png", "b.PNG"]


def damaged(folder: Path, case: str) -> Path:
    content = io.BytesIO()
    Image.effect_noise((64, 64), 90).save(content, "JPEG")
    data = {"text": b"hello", "empty": b"", "heic": b"\0\0\0\x18ftypheic" + bytes(64), "cut": content.getvalue()[:-400]}
    (folder / f"{case}.jpg").write_bytes(data[case])
    return folder / f"{case}.jpg"


@pytest.mark.parametrize("case", ["text", "empty", "heic", "cut"])
def test_a_file_that_is_no_picture_is_named(case: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-PICTURE-002") as raised:
        list(open_pictures(damaged(tmp_path, case)))
    assert raised.value.hint
    assert case in str(raised.value)


def test_a_picture_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MOST_PIXELS", 99)
    with pytest.raises(N6Error, match=r"N6-PICTURE-002: has 10 x 10 pixels"):
        list(open_pictures(saved(tmp_path, "a.png", Image.new("RGB", (10, 10)))))


def test_without_pillow_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, "a.png", Image.new("RGB", (1, 1)))
    monkeypatch.setitem(sys.modules, "PIL.ImageOps", None)
    with pytest.raises(N6Error, match="N6-PICTURE-001") as raised:
        list(open_pictures(path))
    assert "pictures" in str(raised.value.hint)


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-PICTURE-002: contains no picture"):
        picture_files(tmp_path)
