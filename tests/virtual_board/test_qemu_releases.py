"""The release of QEMU for each computer, its source and its configured tree."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest
from n6build.board.virtual_board.build import is_usable, main
from n6build.board.virtual_board.qemu import RELEASES, release_here
from n6build.board.virtual_board.source_package import as_source_list, as_source_stanzas, fetch_source

ROOT = Path(__file__).resolve().parents[2]
OF_ONE_RELEASE = re.compile(r"\benv_ptr\b|\bcpu_env\(|qemu_mutex_lock_iothread|\bbql_lock|\"(sysemu|system)/")


@pytest.mark.parametrize(
    ("system", "release"),
    [
        ({"ID": "debian", "VERSION_ID": "12"}, "7.2"),
        ({"ID": "debian", "VERSION_ID": "13"}, "10.0"),
        # The package sources of a derivative, or of an unreleased Debian, show whether they have this
        # release.
        ({"ID": "ubuntu", "VERSION_ID": "13"}, "7.2"),
        ({"ID": "debian"}, "7.2"),
        (None, "7.2"),
    ],
)
def test_the_distribution_decides(system: dict[str, str] | None, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> dict[str, str]:
        if system is None:
            raise OSError("no os-release")
        return system

    monkeypatch.setattr(platform, "freedesktop_os_release", read)
    monkeypatch.delenv("N6BUILD_QEMU", raising=False)
    assert release_here().version == release


def test_who_works_on_the_machine_may_choose_another(monkeypatch: pytest.MonkeyPatch) -> None:
    for release in RELEASES:
        monkeypatch.setenv("N6BUILD_QEMU", release.version)
        assert release_here() is release


def test_no_two_releases_share_a_tree() -> None:
    assert len({(release.configure, release.edits) for release in RELEASES}) == len(RELEASES)


APT_CACHE = """#!/bin/sh
for version in {versions}; do echo "Package: qemu"; echo "Version: $version"; done
"""
APT_GET = """#!/bin/sh
for last; do :; done
case "$last" in qemu=*) version=${last#qemu=1:}; touch "qemu_${version%-*}.orig.tar.xz";; esac
"""


@pytest.mark.parametrize(
    ("release", "fetched"), [("7.2", "qemu_7.2+dfsg.orig.tar.xz"), ("10.0", "qemu_10.0.13+ds.orig.tar.xz")]
)
def test_the_newest_source_of_a_release_is_fetched_once(
    release: str, fetched: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = "1:7.2+dfsg-7 1:7.2+dfsg-7+deb12u18 1:10.0.2+ds-2 1:10.0.13+ds-0+deb13u1 1:7.20+x-1 1:10.01+x-1"
    for name, text in (("apt-cache", APT_CACHE.replace("{versions}", offered)), ("apt-get", APT_GET)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    source = tmp_path / "source"
    source.mkdir()
    (source / "qemu_7.20+x.orig.tar.xz").touch()
    assert fetch_source(source, release).name == fetched
    (tmp_path / "apt-get").unlink()
    assert fetch_source(source, release).name == fetched


def test_what_releases_name_differently_stands_in_one_header() -> None:
    """A member of 7.2 that 10.0 lacks would be noticed only on Debian 13."""
    folder = ROOT / "tools/virtual_board"
    named = [path.name for path in sorted(folder.glob("*.[ch]")) if OF_ONE_RELEASE.search(path.read_text())]
    assert named == ["n6virt_qemu.h"]


def test_a_system_whose_package_sources_lack_the_release_has_no_virtual_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ubuntu 24.04 is such a system.

    Nothing is installed for it, and the exit status informs set-up.
    """
    for name, text in (
        ("apt-get", 'case "$*" in *install*) echo installs >&2; exit 1;; esac'),
        ("apt-cache", "echo Version: 1:8.2.2+ds-0ubuntu1"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main() == 3
    assert "N6-VB-002: the virtual board needs the source of qemu" in capsys.readouterr().err


# The system's lists of binary packages, read as lists of source packages.


def test_each_one_line_entry_becomes_a_source_entry_with_its_options() -> None:
    text = (
        "# deb http://mirror.example/os release main\n"
        "deb [arch=amd64 signed-by=/key.gpg] http://mirror.example/os release main contrib\n"
        "  deb\thttp://mirror.example/os release-updates main\n"
        "deb-src http://mirror.example/os release main\n"
    )
    assert as_source_list(text) == (
        "# deb http://mirror.example/os release main\n"
        "deb-src [arch=amd64 signed-by=/key.gpg] http://mirror.example/os release main contrib\n"
        "deb-src http://mirror.example/os release-updates main\n"
        "deb-src http://mirror.example/os release main\n"
    )


def test_stanzas_change_their_type_and_nothing_else() -> None:
    text = "Types: deb deb-src\nURIs: http://mirror.example/os\nSuites: release\nEnabled: no\n\nTypes: deb\nSuites: security\n"
    assert as_source_stanzas(text) == (
        "Types: deb-src\nURIs: http://mirror.example/os\nSuites: release\nEnabled: no\n\nTypes: deb-src\nSuites: security\n"
    )


# The configured tree, which outlives the checkout that configured it.

NINJA = """rule CUSTOM
 command = {0}/bin/python3 -m mesonbuild
build trace.h: CUSTOM trace-events | {0}/bin/python3 {0}/bin/meson ../scripts/tracetool.py
"""


def test_a_tree_that_was_never_configured_is_not_usable(tmp_path: Path) -> None:
    assert not is_usable(tmp_path / "build.ninja")


@pytest.mark.parametrize("lost", ["python3", "meson"])
def test_a_tree_is_configured_again_once_the_checkout_that_did_it_is_gone(lost: str, tmp_path: Path) -> None:
    """Otherwise ninja finds no rule to make the Python of a removed .venv."""
    programs = tmp_path / "checkout/.venv/bin"
    programs.mkdir(parents=True)
    for name in ("python3", "meson"):
        (programs / name).touch()
    ninja = tmp_path / "build.ninja"
    ninja.write_text(NINJA.format(programs.parent))
    assert is_usable(ninja)
    (programs / lost).unlink()
    assert not is_usable(ninja)
