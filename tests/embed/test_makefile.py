"""n6build.mk in make, with a fake n6build.

The tests cover the calls of n6build, and when the host links again.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.cli.host_files import MAKEFILE, check_folder, included

FOLDER = "out"
# Makes the library from file `model`, and images from that and the program, if their bytes change. With --question it
# only answers.
STAND_IN = """#!/bin/sh
goals= question=
while [ $# -gt 0 ]; do
    case "$1" in
        --build) folder=$2; shift;;
        --host) shift;;
        --question) question=1;;
        --include-dir) echo "/in clude"; exit;;
        *=*) ;;
        *) goals="$goals $1";;
    esac
    shift
done
[ "$question" ] || mkdir -p "$folder/.n6build" "$folder/board"
made() {
    cat $1 | cmp -s - "$2" && return
    if [ "$question" ]; then exit 1; fi
    cat $1 > "$2"
}
[ "$question" ] || echo "$goals" >> log
case "$goals" in *library*) made model "$folder/libn6networks.a"; made script "$folder/n6_networks.ld"
    if [ -f header ]; then mkdir -p "$folder/include"; made header "$folder/include/n6_decoder.h"; fi;; esac
case "$goals" in *build*) made "app.elf model" "$folder/board/appli.bin";; esac
case "$goals" in *hex*) cp app.elf "$folder/board/firmware.hex";; esac
"""
HOST = f"""
N6BUILD = ./stand-in
N6_BUILD = {FOLDER}
N6_MODEL = x
N6_APPLI = app.elf
include {MAKEFILE}
all: app.elf
app.elf: main.c
\t@echo linked >> log
\t@cat main.c $(N6_LIBS) > $@
clean:
"""


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """Return a host that was built."""
    for name in ("model", "script", "main.c"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "stand-in").write_text(STAND_IN)
    (tmp_path / "stand-in").chmod(0o755)
    (tmp_path / "Makefile").write_text(HOST)
    assert done(tmp_path, "-j2", "all", "n6-build") == ["library", "linked", "library build"]
    return tmp_path


def status(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # make may run these tests. Without the variables of the outer make, this one prints no folders.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS")}
    command = ["make", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    result = status(folder, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def done(folder: Path, *arguments: str) -> list[str]:
    """Return the calls of n6build and of the host's linker in one call of make."""
    (folder / "log").write_text("")
    make(folder, *arguments)
    return [line.strip() for line in (folder / "log").read_text().splitlines()]


def append(host: Path, text: str) -> None:
    with (host / "Makefile").open("a") as file:
        file.write(text)


def test_n6build_is_always_asked_and_the_host_links_only_what_changed(host: Path) -> None:
    assert done(host, "-j2") == ["library"]
    (host / "model").write_text("another\n")
    # A move or `cp -p` leaves such an older file.
    os.utime(host / "model", (1_000_000_000, 1_000_000_000))
    assert done(host, "-j2", "all", "n6-build") == ["library", "linked", "library build"]
    (host / "main.c").write_text("main 2\n")
    assert done(host, "n6-build") == ["library", "linked", "library build"]


def test_a_library_that_stays_as_it_was_is_no_reason_to_link(host: Path) -> None:
    os.utime(host / "model", (4_000_000_000, 4_000_000_000))
    assert done(host, "all") == ["library"]


def test_a_source_is_compiled_behind_the_headers_and_again_with_another_one(host: Path) -> None:
    append(
        host,
        "all: main.o\nmain.o: main.c | $(N6_LIBRARY)\n\t@echo compiled >> log\n"
        "\t@printf 'main.o: out/include/n6_decoder.h\\nout/include/n6_decoder.h:\\n' > main.d\n"
        "\t@cat out/include/n6_decoder.h > $@\n-include main.d\n",
    )
    (host / "header").write_text("score 0.6\n")
    assert done(host, "-j2") == ["library", "compiled"]
    assert done(host, "-j2") == ["library"]
    assert status(host, "-q").returncode == 0
    (host / "header").write_text("score 0.8\n")
    assert status(host, "-q").returncode == 1
    assert done(host, "-j2") == ["library", "compiled"]
    assert (host / "main.o").read_text() == "score 0.8\n"


def test_a_library_that_is_missing_is_made_again(host: Path) -> None:
    (host / "out/libn6networks.a").unlink()
    assert done(host, "-j2", "all", "out/n6_networks.ld") == ["library", "linked"]


def test_where_the_front_answers_nothing_is_called(host: Path) -> None:
    (host / "front").write_text('#!/bin/sh\necho "asked" "$@" >> log\n[ "$1$2$3" = n6buildlibrarybuild ]\n')
    (host / "front").chmod(0o755)
    asked = done(host, "all", "n6-build", "n6_ask=./front")
    assert [line.split(" --")[0] for line in asked] == ["asked n6build library build"]
    # The images are stale or not wanted, and the library may be up to date.
    (host / "front").write_text('#!/bin/sh\n[ "$2$3" = library--build ]\n')
    assert done(host, "all", "n6_ask=./front") == []
    assert done(host, "n6-build", "n6_ask=./front") == ["library build"]


def test_a_program_that_is_linked_again_has_its_images_looked_at(host: Path) -> None:
    """n6build has answered before that everything is up to date."""
    (host / "front").write_text("#!/bin/sh\n[ ! app.elf -nt out/.n6build/host-build ]\n")
    (host / "front").chmod(0o755)
    assert done(host, "all", "n6-build", "n6_ask=./front") == []
    (host / "main.c").write_text("main 2\n")
    assert done(host, "all", "n6-build", "n6_ask=./front") == ["linked", "library build"]


def test_rules_of_the_host_name_any_file_in_the_folder(host: Path) -> None:
    append(host, "image: out/board/appli.bin out/board/firmware.hex\n\t@cat $^ > $@\n")
    assert set(done(host, "-j2", "image")) == {"library", "library build", "hex"}
    before = (host / "image").stat().st_mtime_ns
    done(host, "-j2", "out/board/appli.bin")
    assert (host / "image").stat().st_mtime_ns == before


def test_what_the_host_makes_for_n6build_is_made_first(host: Path) -> None:
    append(host, "N6 := 1\nmodel: data\n\t@cp data model\n")
    (host / "Makefile").write_text(
        (host / "Makefile").read_text().replace("N6_MODEL = x", "N6_MODEL = x\nN6_NEEDS = model")
    )
    (host / "data").write_text("trained\n")
    (host / "model").unlink()
    assert done(host, "-j2", "all") == ["library", "linked"]
    assert (host / "out/libn6networks.a").read_text() == "trained\n"


@pytest.mark.parametrize("flag", ["-n", "-q", "-nk", "--question"])
def test_a_call_that_is_to_change_nothing_says_what_n6build_says(host: Path, flag: str) -> None:
    def contents() -> dict[Path, tuple[int, bytes]]:
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in host.rglob("*") if path.is_file()}

    question = "q" in flag
    before = contents()
    said = status(host, flag, "all", "n6-build")
    assert said.returncode == 0, said
    assert contents() == before
    (host / "model").write_text("another\n")
    before = contents()
    said = status(host, flag, "all", "n6-build")
    # There is work to do, and this is the answer to a question.
    assert said.returncode == (1 if question else 0), said
    assert question or "./stand-in library --build out" in said.stdout
    assert contents() == before


def test_a_dry_run_before_the_first_build_makes_nothing(host: Path) -> None:
    make(host, "clean")
    (host / "app.elf").unlink()
    assert "./stand-in library" in make(host, "-n", "all").stdout
    assert not (host / "app.elf").exists()


def test_an_error_is_kept_to_what_needs_the_library(host: Path) -> None:
    (host / "stand-in").write_text("#!/bin/sh\nexit 3\n")
    append(host, "other:\n\t@echo other >> log\n")
    (host / "log").write_text("")
    assert status(host, "-k", "-j2", "-Oline", "all", "other").returncode == 2
    assert (host / "log").read_text() == "other\n"


def test_an_old_make_is_refused(host: Path) -> None:
    said = status(host, ".FEATURES=target-specific order-only", "MAKE_VERSION=4.2.1")
    assert said.returncode == 2
    assert "n6build needs GNU make 4.3 or later, this is 4.2.1" in said.stderr


def test_the_host_s_first_target_stays_its_default_and_clean_calls_nothing(host: Path) -> None:
    (host / "Makefile").write_text(
        (host / "Makefile").read_text().replace("all: app.elf", "first:\n\t@echo first > log")
    )
    assert done(host) == ["first"]
    assert done(host, "clean") == []
    assert not (host / "out").exists()
    assert done(host, "clean") == []


def test_cleaning_removes_no_folder_that_n6build_did_not_make(host: Path) -> None:
    (host / "other").mkdir()
    make(host, "clean", "N6_BUILD=other")
    assert (host / "other").exists()


def test_a_program_with_a_runtime_of_its_own_does_not_wait_for_the_library(host: Path) -> None:
    (host / "main.c").write_text("main 2\n")
    assert done(host, "-j2", "N6_LINKED=0", "n6-build") == ["linked", "build"]
    assert done(host, "-j2", "N6_LINKED=0", "n6-library") == ["library"]


def test_a_program_may_be_named_among_the_options(host: Path) -> None:
    text = (host / "Makefile").read_text()
    (host / "Makefile").write_text(text.replace("N6_APPLI = app.elf", "N6_OPTIONS = board=x 'appli=app.elf'"))
    (host / "app.elf").unlink()
    assert done(host, "n6-build") == ["library", "linked", "library build"]


def test_a_build_folder_of_its_own_with_a_plain_name() -> None:
    check_folder("build/n6-build")
    for folder in ("a b", "$(HOME)", ".", "..", "a;b", "-x", ""):
        with pytest.raises(N6Error, match="error N6-EMBED-002: "):
            check_folder(folder)


def test_n6build_s_own_makefile_is_named_and_never_carried_out(tmp_path: Path) -> None:
    place = tmp_path / "it is $HOME #1/n6build.mk"
    place.parent.mkdir()
    place.write_text("all:\n\t@echo found $(n6_include)\n")
    (tmp_path / "Makefile").write_text(included(str(place), "/in clude #2"))
    assert make(tmp_path).stdout == "found /in clude #2\n"
    for folder in ("$(shell touch PWNED)", "`touch PWNED`", "a;b", "a,b"):
        with pytest.raises(N6Error, match="N6-EMBED-001"):
            included(f"/{folder}/n6build.mk", "/include")
