"""Folder in which a host's program finds the headers of its networks."""

from __future__ import annotations

from pathlib import Path

from n6build.steps.host_sources import header_folder


def test_headers_of_one_network_have_plain_names() -> None:
    headers = ["build/b/face/network_app/n6_decoder.h", "build/b/face/network_app/n6_picture.h"]
    assert header_folder(headers) == "build/b/face/network_app"


def test_headers_of_two_networks_are_included_by_the_name_of_the_network() -> None:
    headers = [f"build/b/{name}/network_app/n6_decoder.h" for name in ("face", "hand")]
    folder = Path(header_folder(headers))
    assert [str(Path(header).relative_to(folder)) for header in headers] == [
        "face/network_app/n6_decoder.h",
        "hand/network_app/n6_decoder.h",
    ]
