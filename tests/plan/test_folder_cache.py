"""A folder as a cache: damaged, full, read-only or shared by several users."""

from __future__ import annotations

import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from n6build.base.paths import ROOT
from n6build.engine.cache import Cache, open_cache
from n6build.engine.folder_cache import FolderStore, open_folder
from n6build.engine.local import local_site
from n6build.engine.perform import Site
from n6build.engine.step import Step
from n6build.engine.work import Work, work_of
from patience import NET_S

NOBODY = 65534
CONTENT = b"made\n" * 1000
# Trims the given folder, and waits for a line between the listing and the first removal.
TRIMS = """
import sys
from pathlib import Path
from n6build.engine.folder_cache import FolderStore, open_folder

look = FolderStore._entries

def look_and_wait(store):
    found = list(look(store))
    print("listed", flush=True)
    sys.stdin.readline()
    return found

FolderStore._entries = look_and_wait
open_folder(Path(sys.argv[1]), 60_000)._trim()
print("trimmed")
"""
# Makes forty files of 5 KB through the given cache, which has room for ten. Each stored file causes a trim.
BUILDS = """
import sys
from pathlib import Path
from n6build.engine.cache import Cache
from n6build.engine.folder_cache import open_folder
from n6build.engine.local import local_site
from n6build.engine.step import Step
from n6build.engine.work import work_of

cache = Cache(open_folder(Path(sys.argv[1]), 60_000), may_write=True)
site = local_site(Path("build").absolute(), {})
print("ready", flush=True)
sys.stdin.readline()
for number in range(40)[:: int(sys.argv[2])]:
    source, made = Path(f"in{number}"), Path(f"out{number}")
    source.write_text(str(number))
    work = work_of(Step("Copy", "copy", (made.name,), (source.name,), command=("cp", source.name, made.name)), site, ())
    if not cache.fetch(work, site):
        made.write_bytes(bytes([number]) * 5000)
        cache.keep(work, site)
    assert made.read_bytes() == bytes([number]) * 5000
cache.finish()
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("input")
    made(tmp_path)
    return local_site(tmp_path / "build", {})


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that other users can reach."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    (place / "cache").mkdir()
    yield place / "cache"
    shutil.rmtree(place)


def made(top: Path) -> None:
    (top / "out").write_bytes(CONTENT)
    (top / "out.d").write_text(f"out: in {top}/header.h\n")
    (top / "header.h").touch()


def work(site: Site) -> Work:
    step = Step("Copy", "copy", ("out",), ("in",), command=("cp", "in", "out"), depfile="out.d")
    found = work_of(step, site, ())
    assert found is not None
    return found


def filled(folder: Path, site: Site) -> Cache:
    cache = Cache(open_folder(folder), may_write=True)
    cache.keep(work(site), site)
    cache.finish()
    assert cache.kept == 1
    (site.top / "out").unlink()
    (site.top / "out.d").unlink()
    return Cache(open_folder(folder), may_write=True)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_step_comes_back_with_its_list_of_headers(folder: Path, site: Site, tmp_path: Path) -> None:
    """The list names the headers of this checkout."""
    cache = filled(folder, site)
    assert not any(str(tmp_path).encode() in path.read_bytes() for path in files(folder))
    assert cache.fetch(work(site), site)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert (tmp_path / "out.d").read_text() == f"out: in {tmp_path}/header.h\n"
    (tmp_path / "in").write_text("another input")
    assert not cache.fetch(work(site), site)


def lengthened(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"!")


def changed(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [lengthened, changed, emptied, replaced_by_a_folder])
@pytest.mark.parametrize("what", ["results", "files"])
def test_a_damaged_entry_is_a_miss_and_is_replaced(
    what: str, damage: Callable[[Path], None], folder: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = filled(folder, site)
    for path in files(folder / what):
        damage(path)
    capsys.readouterr()
    assert not cache.fetch(work(site), site)
    assert not cache.fetch(work(site), site)
    assert capsys.readouterr().out.count("\n") <= 1
    assert not (site.top / "out").exists()
    if damage is replaced_by_a_folder:
        return
    made(site.top)
    assert filled(folder, site).fetch(work(site), site)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text(max_size=60).map(str.encode))
def test_whatever_is_in_an_entry_is_a_miss(folder: Path, site: Site, data: bytes) -> None:
    made(site.top)
    cache = filled(folder, site)
    for path in files(folder / "results"):
        path.write_bytes(data)
    assert not cache.fetch(work(site), site)


def test_a_full_disk_costs_a_line(folder: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    cache = Cache(open_folder(folder), may_write=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        for _ in range(2):
            cache.keep(work(site), site)
        cache.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    said = capsys.readouterr().out
    assert len(re.findall("N6-CACHE-001: .*, no further results go into this cache", said)) == said.count("\n") == 1
    assert files(folder) == []
    assert cache.may_read


@contextmanager
def another_user() -> Iterator[None]:
    """Run the block as another user; this needs root, which no permission stops."""
    if os.geteuid():
        pytest.skip("only root can be another user")
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def site_of_others(folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """Return the site of the same project of another user."""
    top = folder.parent / "theirs"
    shutil.copytree(site.top, top)
    for path in (top, *top.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    monkeypatch.chdir(top)
    return local_site(top / "build", {})


def test_who_may_only_read_is_served(
    folder: Path, site: Site, site_of_others: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Developers cannot write to the folder of CI."""
    filled(folder, site)
    capsys.readouterr()
    with another_user():
        (site_of_others.top / "out").unlink()
        cache = Cache(open_folder(folder), may_write=True)
        assert cache.fetch(work(site_of_others), site_of_others)
        (site_of_others.top / "in").write_text("of my own")
        for _ in range(2):
            cache.keep(work(site_of_others), site_of_others)
        cache.finish()
    said = capsys.readouterr().out
    assert said.count("Permission denied, no further results go into this cache") == 1
    assert "1 of 1 steps fetched" in said


def test_users_share_a_folder_that_all_may_write(folder: Path, site: Site, site_of_others: Site) -> None:
    """The umask and the user who wrote a damaged file make no difference."""
    folder.chmod(0o777)
    before = os.umask(0o077)
    try:
        filled(folder, site)
        with another_user():
            (site_of_others.top / "out").unlink()
            assert Cache(open_folder(folder), may_write=True).fetch(work(site_of_others), site_of_others)
        for path in files(folder):
            changed(path)
        with another_user():
            assert not Cache(open_folder(folder), may_write=True).fetch(work(site_of_others), site_of_others)
            made(site_of_others.top)
            filled(folder, site_of_others)
        assert Cache(open_folder(folder), may_write=True).fetch(work(site), site)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files(folder)} == {0o666}


def test_a_folder_that_cannot_be_used_costs_a_line(
    folder: Path, site_of_others: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.chmod(0o700)
    with another_user():
        cache = Cache(open_folder(folder), may_write=True)
        assert not cache.fetch(work(site_of_others), site_of_others)
        assert not cache.may_write
        below = folder / "below"
        assert open_cache(str(below), lambda: open_folder(below), may_write=True) is None
    assert capsys.readouterr().out.count("N6-CACHE-001") == 2


def test_what_is_gone_before_it_is_stored_is_not_stored(
    folder: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.top / "out.d").unlink()
    cache = Cache(open_folder(folder), may_write=True)
    cache.keep(work(site), site)
    cache.finish()
    assert (capsys.readouterr().out, files(folder), cache.may_write) == ("", [], True)


def filled_to(limit: int, folder: Path, site: Site, numbers: Iterable[int]) -> FolderStore:
    """Return a store to which an entry of 5 KB for each number was added."""
    store = open_folder(folder, limit)
    for number in numbers:
        (site.top / "in").write_text(str(number))
        (site.top / "out").write_bytes(CONTENT + bytes([number]))
        store.keep(work(site), site)
    return store


def has(store: FolderStore, site: Site, number: int) -> bool:
    (site.top / "in").write_text(str(number))
    return store.fetch(work(site), site)


def of_a_second_ago(folder: Path) -> None:
    for path in files(folder):
        before = path.stat()
        os.utime(path, ns=(before.st_atime_ns - 10**9, before.st_mtime_ns - 10**9))


def test_a_folder_above_its_limit_loses_what_was_used_longest_ago(folder: Path, site: Site) -> None:
    """A tenth of the limit becomes free; fetched and restored entries count as used."""
    for number in range(10):
        filled_to(0, folder, site, [number])
        of_a_second_ago(folder)
    assert has(open_folder(folder), site, 0)
    filled_to(0, folder, site, [1])
    store = filled_to(50_000, folder, site, [10])
    assert sum(path.stat().st_size for path in files(folder)) <= 45_000
    kept = {number for number in range(11) if has(store, site, number)}
    assert kept >= {0, 1, 7, 8, 9, 10}
    assert not kept & {2, 3}


def test_who_stores_looks_at_the_folder_as_often_as_that_is_worth_it(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 entries fill a 64th of the limit, which causes one look on average.

    Without a limit there is none.
    """
    looks: list[int] = []
    monkeypatch.setattr(FolderStore, "_trim", lambda store: looks.append(store.limit))
    filled_to(40 * len(CONTENT) * 64, folder, site, range(120))
    assert 1 <= len(looks) <= 8
    looks.clear()
    filled_to(0, folder, site, range(120, 140))
    assert looks == []


def test_what_others_remove_meanwhile_is_a_miss(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files vanish between the check of their presence and the reading."""
    cache = filled(folder, site)
    capsys.readouterr()
    for path in files(folder / "files"):
        path.unlink()
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    assert not cache.fetch(work(site), site)
    assert capsys.readouterr().out == ""
    assert cache.may_read


def started(program: str, *words: str | Path | int, top: Path | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, words)]
    library = {"PYTHONPATH": str(ROOT / "site_scons")}
    return subprocess.Popen(
        command, cwd=top, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **library}
    )


def go_on(running: Sequence[subprocess.Popen[str]], when: str) -> list[str]:
    """Let the processes go on when all of them wait; return their texts.

    All of them end without an error.
    """
    assert [process.stdout.readline() for process in running if process.stdout] == [f"{when}\n"] * len(running)
    said = [process.communicate("go\n", timeout=NET_S)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return said


def test_processes_that_trim_at_once_remove_what_one_of_them_would(folder: Path, site: Site) -> None:
    """Each process has listed the folder before any of them removes a file."""
    filled_to(0, folder, site, range(40))
    for number, path in enumerate(sorted(files(folder))):
        os.utime(path, ns=(number, number))
    alone = Path(shutil.copytree(folder, folder.parent / "alone"))
    open_folder(alone, 60_000)._trim()
    assert go_on([started(TRIMS, folder) for _ in range(2)], "listed") == ["trimmed\n"] * 2
    left = {path.relative_to(folder) for path in files(folder)}
    assert left == {path.relative_to(alone) for path in files(alone)}
    assert 0 < len(left) < 80


def test_processes_that_build_and_trim_at_once_end_right_within_the_limit(folder: Path, tmp_path: Path) -> None:
    """The orders are opposite: a file that is there may be gone a moment later.

    The last look follows the last file.
    """
    tops = [tmp_path / "one", tmp_path / "other"]
    for top in tops:
        top.mkdir()
    running = [started(BUILDS, folder, order, top=top) for order, top in zip((1, -1), tops, strict=True)]
    for said in go_on(running, "ready"):
        assert "N6-CACHE" not in said
        assert re.search(r"\d+ of 40 steps fetched, \d+ stored", said)
    made = [{path.name: path.read_bytes() for path in top.glob("out*")} for top in tops]
    assert made[0] == made[1]
    assert len(made[0]) == 40
    assert 0 < sum(path.stat().st_size for path in files(folder)) <= 60_000


def test_what_is_trimmed_while_it_is_written_is_not_stored(
    folder: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process with less room than the file trims it; the next file may be smaller."""

    def trimmed(temporary: str, path: Path) -> None:
        Path(temporary).unlink()
        raise FileNotFoundError(path)

    cache = Cache(open_folder(folder), may_write=True)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(os, "replace", trimmed)
        cache.store.keep(work(site), site)
    assert not cache.fetch(work(site), site)
    cache.keep(work(site), site)
    cache.finish()
    assert "N6-CACHE" not in capsys.readouterr().out
    assert cache.fetch(work(site), site)


def test_what_may_not_be_removed_stays(folder: Path, site: Site, site_of_others: Site) -> None:
    filled_to(0, folder, site, range(10))
    with another_user():
        open_folder(folder, 1000)._trim()
    assert len(files(folder)) >= 20


def test_two_builds_fill_a_cache_at_once(folder: Path, site: Site) -> None:
    store = open_folder(folder)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: FolderStore.keep(store, work(site), site), range(40)))
    (site.top / "out").unlink()
    assert store.fetch(work(site), site)
    assert len(files(folder)) == 3
