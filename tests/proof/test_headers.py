"""Every header that the compiler reads is an input.

So is every header that the compiler would read if it existed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.conftest import BOARD, Build, Builds, differences

GOALS = (f"{BOARD}/fsbl_image.bin",)
MAIN = "firmware/fsbl/main.c"


@pytest.fixture
def build(builds: Builds, tmp_path: Path) -> Build:
    return builds.copy("fsbl", tmp_path)


def other_clock_header(build: Build, folder: str) -> Path:
    """Write another header with the name of a header of the project."""
    path = build.root / folder / "n6_clock.h"
    text = (build.root / "firmware/bring_up/n6_clock.h").read_text()
    path.write_text(f'{text}__attribute__((used)) static const char n6_shadow[] = "shadow";\n')
    return path


def on_top(build: Build, text: str) -> None:
    path = build.root / MAIN
    path.write_text(text + path.read_text())


def test_a_header_that_a_macro_names_and_a_new_one_in_front_of_another_are_inputs(build: Build) -> None:
    """<...> looks in the folders in their order: the board's own headers come first."""
    named = build.root / "firmware/fsbl/named.h"
    named.write_text('static const char n6_named[] __attribute__((used)) = "one";\n')
    main = build.root / MAIN
    main.write_text(main.read_text().replace('#include "n6_clock.h"', "#include <n6_clock.h>"))
    on_top(build, '#define NAMED "named.h"\n#include NAMED\n')
    assert f"Compile {MAIN}" in build.built(*GOALS)
    named.write_text(named.read_text().replace("one", "two"))
    assert f"Compile {MAIN}" in build.built(*GOALS)
    before = build.made()
    # The scanner and the compiler look into these folders before firmware/bring_up.
    shadow = other_clock_header(build, f"{BOARD}/include")
    assert f"Compile {MAIN}" in build.built(*GOALS)
    assert f"{BOARD}/fsbl/main.o" in differences(before, build.made())
    assert "shadow" in (build.root / f"{BOARD}/fsbl/main.o").read_bytes().decode("latin-1")
    shadow.unlink()
    build.built(*GOALS)
    assert build.made() == before == build.made_from_nothing(*GOALS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        '__asm__(".section .rodata\\n.incbin \\"firmware/fsbl/blob.bin\\"\\n.text");\n',
        '__asm__(".section .rodata\\n" ".incbin \\"firmware/fsbl/blob.bin\\"\\n.text");\n',
    ],
)
def test_a_file_that_the_assembler_takes_in_is_an_error(text: str, build: Build) -> None:
    (build.root / "firmware/fsbl/blob.bin").write_bytes(b"blob")
    on_top(build, f"/* first line */\n{text}")
    result = build.scons(*GOALS).refused()
    assert f"{MAIN}:2: error N6-STEP-013" in result.output
    assert "includes the file firmware/fsbl/blob.bin" in result.output


# Every run covers this by test_a_header_that_a_macro_names_and_a_new_one_in_front_of_another_are_inputs.
@pytest.mark.slow
def test_a_header_beside_the_source_is_taken_before_those_of_the_folders(build: Build) -> None:
    beside = other_clock_header(build, "firmware/fsbl")
    build.built(*GOALS)
    made = build.made()
    assert made == build.made_from_nothing(*GOALS)
    beside.unlink()
    build.built(*GOALS)
    assert build.made() == build.made_from_nothing(*GOALS) != made


@pytest.mark.slow
def test_a_header_that_is_looked_for_and_may_be_absent(build: Build) -> None:
    on_top(build, '#if __has_include("maybe.h")\n#include "maybe.h"\n#endif\n')
    build.built(*GOALS)
    maybe = build.root / "firmware/fsbl/maybe.h"
    maybe.write_text('__attribute__((used)) static const char n6_maybe[] = "maybe";\n')
    build.built(*GOALS)
    assert b"maybe" in (build.root / f"{BOARD}/fsbl/main.o").read_bytes()
    assert build.made() == build.made_from_nothing(*GOALS)
    maybe.unlink()
    build.built(*GOALS)
    assert build.made() == build.made_from_nothing(*GOALS)
