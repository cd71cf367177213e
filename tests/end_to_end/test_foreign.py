"""Third-party programs in real scons: fsbl=, appli=, data= and until=.

The user has only the program files.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import wave
from pathlib import Path

import pytest

from end_to_end.conftest import BuiltOnce, Project, Result

BOARD = "build/nucleo-n657"
VIRTUAL = "probe=virtual"


@pytest.fixture(scope="module")
def built(built_once: BuiltOnce, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with n6build's FSBL and Appli as third-party programs.

    Folder `theirs` has them in all formats.
    """
    project = built_once.copy(tmp_path_factory.mktemp("built"), "model=keyword", VIRTUAL, "flash")
    project.done("model=keyword", VIRTUAL, "build", "hex", "mcuboot", "flash")
    theirs = project.root / "theirs"
    theirs.mkdir()
    for name, folder in (("fsbl", BOARD), ("appli", f"{BOARD}/keyword")):
        elf = project.root / folder / name / f"{name}.elf"
        shutil.copy(elf, theirs / f"{name}.elf")
        shutil.copy(project.root / folder / f"{name}_image.bin", theirs / f"{name}-trusted.bin")
        objcopy(elf, theirs / f"plain_{name}.bin", "binary")
        objcopy(elf, theirs / f"plain_{name}.hex", "ihex")
    shutil.copy(project.root / f"{BOARD}/keyword/firmware.hex", theirs / "all.hex")
    shutil.copy(project.root / f"{BOARD}/keyword/appli_mcuboot.bin", theirs / "appli-mcuboot.bin")
    shutil.copy(project.root / f"{BOARD}/keyword/weights_xSPI2.bin", theirs / "weights.bin")
    return project


def objcopy(elf: Path, to: Path, form: str) -> None:
    subprocess.run(["arm-none-eabi-objcopy", "-O", form, str(elf), str(to)], check=True)


def watched(result: Result, project: Project) -> dict[str, object]:
    result.done()
    told = json.loads((project.root / BOARD / "programs-foreign/run.json").read_text())["watched"]
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize(
    "given",
    [
        ("fsbl=theirs/fsbl-trusted.bin", "appli=theirs/appli-trusted.bin"),
        pytest.param(("fsbl=theirs/fsbl.elf", "appli=theirs/plain_appli.hex"), marks=pytest.mark.slow),
        pytest.param(("fsbl=theirs/plain_fsbl.bin", "appli=theirs/plain_appli.bin"), marks=pytest.mark.slow),
        # In every run, from an image of MCUboot: test_data_goes_where_it_is_told_and_a_second_scons_does_nothing.
        pytest.param(("appli=theirs/appli.elf",), marks=pytest.mark.slow),
    ],
    ids=["signed", "elf and hex", "bin", "with our FSBL"],
)
def test_programs_in_any_form_start(built: Project, given: tuple[str, ...]) -> None:
    result = built.scons(*given, VIRTUAL, "until=text:n6 appli start model=keyword", "flash", "run")
    told = watched(result, built)
    assert told["until"] == "text 'n6 appli start model=keyword'"
    assert told["why_not"] == ""
    assert "Console n6 fsbl start board=nucleo-n657" in result.output
    assert "no registers" not in result.output


@pytest.mark.slow
def test_one_hex_file_has_all_of_it_and_runs_to_the_end(built: Project) -> None:
    result = built.scons(
        "fsbl=theirs/all.hex", "appli=theirs/all.hex", VIRTUAL, "until=text:n6 done runs=10", "flash", "run"
    )
    assert watched(result, built)["why_not"] == ""


def test_data_goes_where_it_is_told_and_a_second_scons_does_nothing(built: Project) -> None:
    given = (
        "appli=theirs/appli-mcuboot.bin",
        "data=theirs/weights.bin@0x71000000",
        VIRTUAL,
        "until=text: in-place bytes",
        "flash",
    )
    assert watched(built.scons(*given, "run"), built)["why_not"] == ""
    again = built.scons(*(word for word in given if not word.startswith("until=")))
    assert (again.status, again.actions) == (0, [])
    assert built.scons(*given, "run").actions == ["Run programs-foreign/run.json"]


def test_our_appli_runs_on_their_fsbl_and_is_compared(built: Project) -> None:
    result = built.done("fsbl=theirs/fsbl-trusted.bin", "model=keyword", VIRTUAL, "flash", "run")
    assert "10 of 10 outputs equal" in result.output
    assert f"{BOARD}/keyword-foreign/run.json" in result.output


@pytest.mark.slow
def test_a_symbol_ends_the_run_at_its_first_instruction_each_time(built: Project) -> None:
    given = ("fsbl=theirs/fsbl.elf", "appli=theirs/appli-trusted.bin", VIRTUAL, "flash", "run")
    told = watched(built.scons(*given, "until=symbol:main"), built)
    assert str(told["at"]).endswith("in main()")
    assert "firmware/appli/main.c" in str(told["at"])
    assert watched(built.scons(*given, "until=symbol:main"), built) == told
    of_fsbl = watched(built.scons(*given, "until=symbol:fsbl:main"), built)
    assert "firmware/fsbl/main.c" in str(of_fsbl["at"])


@pytest.mark.slow
def test_so_many_instructions_are_executed_and_the_last_is_named(built: Project) -> None:
    result = built.scons("appli=theirs/appli.elf", VIRTUAL, "until=instructions:2_000_000", "flash", "run")
    assert watched(result, built)["instructions"] == 2_000_000
    assert "reached 2,000,000 instructions after 2,000,000 instructions, at firmware/" in result.output


def test_what_is_not_reached_fails_with_the_reason(built: Project) -> None:
    data = bytearray((built.root / "theirs/plain_appli.bin").read_bytes())
    (entry,) = struct.unpack_from("<I", data, 4)
    # The first instruction becomes an undefined one.
    struct.pack_into("<H", data, (entry & ~1) - 0x34000400, 0xDE00)
    (built.root / "theirs/broken.bin").write_bytes(data)
    sound = ("audio=theirs/hum.wav", "audio_out=theirs/played.wav")
    with wave.open(str(built.root / "theirs/hum.wav"), "wb") as writer:
        writer.setparams((1, 2, 16_000, 0, "NONE", ""))
        writer.writeframes(bytes(32))
    (built.root / "theirs/played.wav").write_bytes(b"of another run")
    result = built.scons(
        "appli=theirs/broken.bin", VIRTUAL, "until=text:n6 appli start", *sound, "flash", "run"
    ).refused()
    assert "The board played nothing" in result.output
    assert not (built.root / "theirs/played.wav").exists()
    assert "error N6-RUN-008: the run ended before it reached text 'n6 appli start'" in result.output


@pytest.mark.slow
def test_the_report_tells_how_it_ended(built: Project) -> None:
    given = ("appli=theirs/appli.elf", VIRTUAL, "until=symbol:appli:main", "flash", "run", "report")
    assert "Run: reached symbol appli:main" in built.done(*given).output
    assert "Run on the virtual board" in (built.root / BOARD / "programs-foreign/report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "id"),
    [
        (("appli=theirs/appli.elf", "until=symbol:mian", VIRTUAL, "flash", "run"), "N6-RUN-010"),
        (("appli=theirs/none.elf", VIRTUAL, "flash"), "none.elf"),
        (("appli=theirs/appli.elf", "until=main", VIRTUAL, "run"), "N6-OPTION-002"),
        (("appli=theirs/appli.elf", "runs=3", VIRTUAL, "run"), "N6-OPTION-013"),
        (("appli=theirs/appli.elf", "flash-model", VIRTUAL), "N6-FLASH-023"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                (("appli=theirs/appli.elf", "until=instructions:many", VIRTUAL, "run"), "N6-OPTION-002"),
                (("data=theirs/weights.bin@here", "build"), "N6-OPTION-002"),
                (("appli=theirs/appli.elf", "matrix"), "N6-OPTION-013"),
                (("appli=theirs/appli.elf", "mcuboot"), "N6-MCUBOOT-004"),
                # In every run: tests/flash/test_flash.py.
                (("appli=theirs/appli.elf", "data=theirs/weights.bin@0x70100000", VIRTUAL, "flash"), "N6-IMAGE-006"),
            )
        ),
    ],
)
def test_mistakes_are_said_without_a_traceback(built: Project, arguments: tuple[str, ...], id: str) -> None:
    assert id in built.scons(*arguments).refused().output


@pytest.mark.slow
def test_registers_that_no_model_answers_are_a_warning_or_an_error(built: Project) -> None:
    """The Appli enables RNG's clock and writes to RNG, which has no model.

    Its code is: ldr r0, =AHB3ENSR; movs r1, #1; str r1, [r0]; ldr r0, =RNG; str r1, [r0]; b .
    """
    code = struct.pack("<6H2I", 0x4802, 0x2101, 0x6001, 0x4802, 0x6001, 0xE7FE, 0x5602_8A58, 0x5402_0000)
    (built.root / "theirs/rng.bin").write_bytes(struct.pack("<II", 0x34100000, 0x34000409) + code)
    given = ("appli=theirs/rng.bin", VIRTUAL, "until=instructions:20_000_000", "flash", "run")
    assert "Stored 0x54020000 RNG" in built.done(*given).output
    built.replace("boards/nucleo-n657/board.yaml", "title:", "unmodelled_registers: error\ntitle:")
    result = built.scons(*given)
    built.replace("boards/nucleo-n657/board.yaml", "unmodelled_registers: error\n", "")
    assert result.status == 2
    assert (
        "error N6-RUN-009: the program uses 1 registers that the virtual board only stores: 0x54020000 RNG"
        in result.output
    )
