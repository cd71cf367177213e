"""Folders in which a host's program finds the headers of its networks."""

from __future__ import annotations

from pathlib import Path

from n6build.engine.step import Call
from n6build.steps.host_headers import CHANGES, header_folder, make_host_headers


def test_headers_of_one_network_have_plain_names() -> None:
    headers = ["build/b/face/network_app/n6_decoder.h", "build/b/face/network_app/n6_picture.h"]
    assert header_folder(headers) == "build/b/face/network_app"


def test_headers_of_two_networks_are_included_by_the_name_of_the_network() -> None:
    headers = [f"build/b/face+hand/{name}_app/n6_decoder.h" for name in ("face", "hand")]
    folder = Path(header_folder(headers))
    assert [str(Path(header).relative_to(folder)) for header in headers] == [
        "face_app/n6_decoder.h",
        "hand_app/n6_decoder.h",
    ]


def made(folder: Path, **headers: str) -> str:
    """Return the text that changes with the headers, which are put into one folder."""
    sources = [folder / "from" / name.replace("__", "/") for name in headers]
    for source, text in zip(sources, headers.values(), strict=True):
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
    outputs = [folder / "include" / each for each in (CHANGES, *(name.replace("__", "/") for name in headers))]
    make_host_headers(Call(tuple(outputs), tuple(sources), "{}", folder))
    return outputs[0].read_text()


def test_headers_of_other_networks_go_and_a_file_changes_with_each_header(tmp_path: Path) -> None:
    one = made(tmp_path, clock="int a;\n", face_app__decoder="int b;\n", hand_app__decoder="int c;\n")
    other = made(tmp_path, clock="int a;\n", decoder="int b;\n")
    assert sorted(path.name for path in (tmp_path / "include").rglob("*") if path.is_file()) == [
        "clock",
        "decoder",
        CHANGES,
    ]
    assert (tmp_path / "include/decoder").read_text() == f'int b;\n#include "{CHANGES}"\n'
    assert len({one, other, made(tmp_path, clock="int a;\n", decoder="int d;\n")}) == 3
