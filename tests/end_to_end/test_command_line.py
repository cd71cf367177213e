"""Correct and mistyped command lines."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from patience import NET_S
from slow_rows import slow_rows

from end_to_end.conftest import EQUAL, BuiltOnce, Project, make_project

VIRTUAL = ("board=nucleo-n657", "model=miniresnet", "probe=virtual")


@pytest.fixture(scope="module")
def built(built_once: BuiltOnce, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return built_once.copy(tmp_path_factory.mktemp("built"), *VIRTUAL, "flash")


def every_pair() -> list[ParameterSet]:
    """Return the combinations that test_matrix.py does not run.

    `make test-all` runs all of them.
    """
    chosen = ("openmv-n6", "anomaly", "noextmem")
    boards, models = ("nucleo-n657", "stm32n6570-dk", "openmv-n6"), ("miniresnet", "keyword", "anomaly")
    every = itertools.product(boards, models, ("extflash", "noextmem"))
    return [pytest.param(*each, marks=() if each == chosen else pytest.mark.slow) for each in every]


@pytest.mark.parametrize(("board", "model", "profile"), every_pair())
def test_ten_inferences_equal_the_reference_interpreter(project: Project, board: str, model: str, profile: str) -> None:
    result = project.done(f"board={board}", f"model={model}", f"profile={profile}", "probe=virtual", "flash", "run")
    assert EQUAL in result.output
    assert "Finding" not in result.output
    folder = project.root / "build" / board / (model if profile == "extflash" else f"{model}-{profile}")
    run = json.loads((folder / "run.json").read_text())
    assert [verdict["equal"] for verdict in run["networks"][0]["verdicts"]] == [True] * 10
    plan = json.loads((folder / "memory_plan.json").read_text())
    banks = {"extflash": {"AXISRAM3"}, "noextmem": {"AXISRAM3", "AXISRAM5"}}[profile]
    assert {bank["name"] for bank in plan["banks"]} == banks


@pytest.mark.slow
def test_two_networks_share_an_application(project: Project) -> None:
    result = project.done("model=keyword,anomaly", "probe=virtual", "flash", "run")
    assert "20 of 20 outputs equal the reference interpreter bit for bit" in result.output
    folder = project.root / "build/nucleo-n657/keyword+anomaly"
    run = json.loads((folder / "run.json").read_text())
    assert [network["model"] for network in run["networks"]] == ["keyword", "anomaly"]
    segments = json.loads((folder / "flash_manifest.json").read_text())["segments"]
    sectors = [(part["address"] // 65536, (part["address"] + part["length"] - 1) // 65536) for part in segments]
    assert len(segments) == 6
    assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(sectors))


@pytest.mark.slow
def test_new_weights_of_one_network_leave_the_other_as_it_is(project: Project) -> None:
    models = "model=keyword,anomaly"
    assert project.scons(models, "build").status == 0
    project.change_one_weight("keyword")
    result = project.done(models, "build")
    assert not [action for action in result.actions if "+anomaly/anomaly" in action]


@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_a_wrong_expectation_fails_the_run(project: Project) -> None:
    import numpy as np

    path = project.root / "models/keyword/expected.npy"
    expected = np.load(path)
    expected[3, 2] ^= 1
    np.save(path, expected)
    result = project.scons("model=keyword", "probe=virtual", "flash", "run").refused()
    assert "9 of 10 outputs equal" in result.output
    assert "N6-RUN-005: 1 of 10 outputs differ from the reference interpreter, 1 bytes" in result.output


@pytest.mark.slow
def test_two_builds_in_two_folders_are_equal(built: Project, tmp_path: Path) -> None:
    other = make_project(tmp_path)
    assert other.scons(*VIRTUAL, "build", "flash", PYTHONHASHSEED="7").status == 0
    assert built.scons(*VIRTUAL, "build", PYTHONHASHSEED="1").status == 0
    compared = 0
    for path in sorted((built.root / "build" / "nucleo-n657").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (other.root / path.relative_to(built.root)).read_bytes(), path.name
            compared += 1
    assert compared > 40


def test_flash_without_a_probe_stops_before_anything_is_built(project: Project) -> None:
    result = project.scons("board=nucleo-n657", "model=miniresnet", "flash").refused()
    assert result.actions == []
    assert "N6-FLASH-010" in result.output
    assert "probe=virtual" in result.output
    assert json.loads((project.root / "build/last_error.json").read_text())["id"] == "N6-FLASH-010"


@pytest.mark.parametrize("how", ["environment", "settings file"])
def test_the_virtual_board_can_be_made_the_default(built: Project, how: str) -> None:
    if how == "environment":
        result = built.scons("flash", N6BUILD_PROBE="virtual")
    else:
        settings = built.root / "n6build.local.yaml"
        settings.write_text("probe: virtual\n")
        result = built.scons("flash")
        settings.unlink()
    assert "is up to date" in result.output


# These cases run always: a word and values of each kind. The library finds the other mistakes, and prints
# them alike.
_ALWAYS = ("modle=miniresnet", "board=nuclo-n657", "fash", "plan", "dry=1")
MISTAKES = [
    (["modle=miniresnet"], "N6-OPTION-001: unknown option 'modle'\n  hint: did you mean 'mode' or 'model'?"),
    (["model=minresnet"], "N6-MODEL-001: no model 'minresnet'\n  hint: did you mean 'miniresnet'?"),
    (["board=nuclo-n657"], "N6-BOARD-001: no board 'nuclo-n657'\n  hint: did you mean 'nucleo-n657'?"),
    (["profile=noextmen"], "N6-BOARD-009: NUCLEO-N657X0-Q has no profile 'noextmen'\n  hint: did you mean 'noextmem'?"),
    (["fash"], "N6-OPTION-003: no target 'fash'\n  hint: did you mean 'flash'?"),
    (["model=nowhere/net.tflite"], "N6-MODEL-001: no model file or folder 'nowhere/net.tflite'"),
    (["model=SConstruct"], "N6-MODEL-002"),
    (["model="], "N6-OPTION-002: 'model=' has an empty value"),
    (
        ["board=openmv-n6", "clock=overdrive"],
        "N6-BOARD-003: 'clock=overdrive': it needs a raised core supply, but OpenMV N6 has no pin for it\n"
        "  hint: choose one of: hsi, hsi-only, nominal, cube",
    ),
    (["dry=1"], "N6-OPTION-020: 'dry=1' has no effect on build\n  hint: use it with flash, flash-all, flash-model"),
    (["inputs=nothere.npy", "run"], "N6-OPTION-022: no file 'nothere.npy' for 'inputs'"),
    (["probe=0042", "flash"], "N6-FLASH-012: "),
    (["verbose=2"], "N6-OPTION-002"),
    (["plan", "matrix"], "N6-OPTION-010: a plan covers one application"),
    (["explain=nowhere.o"], "N6-STEP-014: no step of this plan makes nowhere.o"),
]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [pytest.param(*each, marks=() if each[0][0] in _ALWAYS else pytest.mark.slow) for each in MISTAKES],
    ids=[mistake[0][0] for mistake in MISTAKES],
)
def test_a_mistake_gets_one_clear_answer(built: Project, arguments: list[str], message: str) -> None:
    result = built.scons(*arguments).refused()
    assert message in result.output
    assert "File " not in result.output


@pytest.mark.parametrize(
    "content", [*slow_rows(b"", b"TFL3", bytes(100)), b"\x1c\0\0\0TFL3" + bytes(range(256)) * 4], ids=len
)
def test_a_model_that_is_none_gets_one_clear_answer(built: Project, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "net.tflite").write_bytes(content)
    assert "net.tflite: error N6-NET-" in built.scons(f"model={tmp_path / 'net.tflite'}", "network").refused().output


@pytest.mark.slow
def test_a_model_that_is_not_the_one_described_is_refused(project: Project) -> None:
    path = project.root / "models/anomaly/anomaly.tflite"
    path.write_bytes(path.read_bytes() + b"\0")
    result = project.scons("model=anomaly", "network")
    assert "anomaly.tflite: error N6-MODEL-006: is not the file that model.yaml describes" in result.output


@pytest.mark.slow
def test_a_bare_model_file_is_compiled_and_checked_on_seeded_inputs(project: Project) -> None:
    """A model file without model.yaml has no vectors."""
    shutil.copy(project.root / "models/keyword/keyword.tflite", project.root / "mine.tflite")
    result = project.done("model=mine.tflite", "probe=virtual", "flash", "run")
    assert "Result 2 of 2 outputs equal the reference interpreter bit for bit" in result.output
    seeded = (
        "mine ran on seeded random inputs, the same on every machine: set vectors.inputs in model.yaml for other inputs"
    )
    assert f"Result {seeded}" in result.output
    inputs = np.load(project.root / "build/nucleo-n657/mine/inputs/network.npy")
    assert (inputs.dtype, inputs.shape) == (np.int8, (2, 1, 49, 10, 1))

    # The result is an image like any other: nothing is made or programmed again.
    again = project.scons("model=mine.tflite", "probe=virtual", "flash")
    assert (again.actions, again.flashed) == ([], "nothing"), again.output
    (project.root / "mine.tflite").unlink()
    shutil.copy(project.root / "models/miniresnet/miniresnet.tflite", project.root / "mine.tflite")
    other = project.scons("model=mine.tflite", "probe=virtual", "flash")
    assert {"Inputs mine/inputs/network.npy", "Vectors mine/vectors.bin"} <= {*other.actions}


@pytest.mark.slow
def test_a_missing_compiler_is_said_at_once_and_lists_still_work(built: Project, tmp_path: Path) -> None:
    empty = {"PATH": str(tmp_path)}
    assert "N6-TOOL-001: the compiler arm-none-eabi-gcc was not found" in built.scons(*VIRTUAL, **empty).output
    doctor = built.done("doctor", **empty)
    assert "missing arm-none-eabi-gcc" in doctor.output
    assert "ARITH: without CTRL LOGICALOP; only" in doctor.output
    assert "nucleo-n657" in built.scons("boards", **empty).output
    assert "miniresnet" in built.scons("models", **empty).output


def test_help_names_every_target_and_option(built: Project) -> None:
    output = built.scons("-h").output
    for word in (
        "build",
        "flash",
        "run",
        "network",
        "hex",
        "check",
        "report",
        "boards",
        "models",
        "doctor",
        "board",
        "model",
        "profile",
        "backend",
        "probe",
        "gdb",
        "verbose",
    ):
        assert f"\n  {word} " in output


def test_a_dry_run_names_every_stage_and_touches_nothing(project: Project) -> None:
    result = project.done(*VIRTUAL, "-n", "flash", "run")
    verbs = {action.split()[0] for action in result.actions}
    assert verbs >= {
        "Network",
        "Plan",
        "Weights",
        "Vectors",
        "Header",
        "Compile",
        "Link",
        "Image",
        "Manifest",
        "Flash",
        "Run",
    }
    assert (
        [path for path in (project.root / "build").rglob("*") if path.is_file()] == []
        if (project.root / "build").exists()
        else True
    )


def test_verbose_shows_commands_and_rebuilds_nothing(built: Project) -> None:
    assert "is up to date" in built.scons(*VIRTUAL, "verbose=1", "flash").output
    (built.root / "build/nucleo-n657/fsbl/main.o").unlink()
    assert "arm-none-eabi-gcc -o build/nucleo-n657/fsbl/main.o -c" in built.scons(*VIRTUAL, "verbose=1", "flash").output


@pytest.mark.slow
def test_switches_of_scons_show_what_is_up_to_date_and_what_is_not(built: Project) -> None:
    target, image = (*VIRTUAL, "image"), "build/nucleo-n657/fsbl_image.bin"
    assert built.scons(*target).status == 0
    assert f"+-{image}" in built.scons(*target, "--tree=prune").output
    assert "is up to date" in built.scons(*VIRTUAL, image).output
    for switch in ("-n", "-q", "--debug=explain"):
        result = built.scons(*target, switch)
        assert (result.status, result.actions) == (0, []), switch
        assert "rebuil" not in result.output
    (built.root / image).unlink()
    assert built.scons(*target, "-q").status == 1
    assert built.scons(*target, "-n").actions[0] == "Image fsbl_image.bin"
    result = built.scons(*target, "--debug=explain")
    assert (result.status, result.actions) == (0, ["Image fsbl_image.bin"]), result.output
    assert f"rebuilding `{image}' because {image} is missing" in result.output


def test_flags_of_the_callers_environment_do_not_reach_the_compiler(built: Project) -> None:
    hostile = {"CFLAGS": "-DBROKEN", "MAKEFLAGS": "-j", "C_INCLUDE_PATH": "/nowhere", "GCC_EXEC_PREFIX": "/nowhere/"}
    assert "is up to date" in built.scons(*VIRTUAL, "flash", **hostile).output


@pytest.mark.slow
def test_an_image_larger_than_its_slot_is_refused_with_the_bytes(project: Project) -> None:
    project.replace(
        "firmware/appli/main.c",
        "static uint32_t epochs_of_all",
        "volatile uint8_t large[600000] = {1};\n\nstatic uint32_t epochs_of_all",
    )
    project.replace("firmware/appli/main.c", "    n6_caches_enable();", "    large[5] = 1;\n    n6_caches_enable();")
    project.replace(
        "boards/nucleo-n657/board.yaml",
        "appli: {address: 0x70100000, size: 2M}",
        "appli: {address: 0x70100000, size: 512K}",
    )
    # The other slot, for trials, has the same size.
    project.replace(
        "boards/nucleo-n657/board.yaml",
        "appli: {address: 0x70800000, size: 2M}",
        "appli: {address: 0x70800000, size: 512K}",
    )
    result = project.scons(*VIRTUAL, "flash").refused()
    assert "boards/nucleo-n657/board.yaml: slots.appli: error N6-IMAGE-005: appli_image.bin has" in result.output
    assert "more than slot 'appli' (524288)" in result.output


@pytest.mark.slow
def test_a_terminal_that_lacks_a_letter(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "Müller"
    folder.mkdir()
    shutil.copy(project.root / "models/keyword/keyword.tflite", folder / "net.tflite")
    shutil.copy(project.root / "models/keyword/inputs.npy", folder / "inputs.npy")
    yaml = "name: net\nfile: net.tflite\nclasses: [ä, b, c, d, e, f, g, h, i, j, k, l]\nresult: classification\n"
    (folder / "model.yaml").write_text(f"{yaml}vectors: {{inputs: inputs.npy}}\n")
    result = project.done(f"model={folder}", "probe=virtual", "flash", "run", "report", PYTHONIOENCODING="ascii")
    assert "Vector 0  ? 0.9" in result.output


@pytest.mark.parametrize("after", [(1, 20), *slow_rows((1, 3, 9, 20))], ids=["twice", "four times"])
def test_an_interrupted_build_leaves_nothing_half_written(project: Project, after: tuple[int, ...]) -> None:
    for lines in after:
        with project.started(*VIRTUAL, "flash") as process:
            assert process.stdout is not None
            for _ in range(lines):
                process.stdout.readline()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=NET_S)
        assert process.returncode, f"was not interrupted after {lines} lines"
    assert "10 of 10 outputs equal" in project.done(*VIRTUAL, "flash", "run").output
    assert not [path.name for path in (project.root / "build").rglob(".*") if path.is_file()]


@pytest.mark.slow
def test_another_project_uses_the_tools_from_its_own_sconstruct(project: Project, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    shutil.copy(project.root / "models/keyword/keyword.tflite", theirs / "net.tflite")
    tools = project.root / "site_scons"
    script = (project.root / "SConstruct").read_text()
    script = script.replace('tools=["n6"', f'toolpath=["{tools / "site_tools"}"], tools=["n6"')
    (theirs / "SConstruct").write_text(f'import sys\n\nsys.path.insert(0, "{tools}")\n{script}')
    Project(theirs, project.home).done("model=net.tflite", "probe=virtual", "flash", "run", PYTHONPATH=str(tools))
    assert (theirs / "build/nucleo-n657/net/flash_manifest.json").is_file()
    assert not (project.root / "build").exists()
    assert (
        Project(theirs, project.home).scons("model=net.tflite", "probe=virtual", "flash", PYTHONPATH=str(tools)).actions
        == []
    )


@pytest.mark.built("model=keyword", "probe=virtual", "flash")
def test_cleaning_removes_what_was_built_and_keeps_the_board(project: Project) -> None:
    assert project.scons("model=keyword", "probe=virtual", "-c", "build").status == 0
    left = [path for path in (project.root / "build/nucleo-n657").rglob("*") if path.is_file()]
    assert left == []
    assert (project.root / "build/virtual_board/nucleo-n657/nor.bin").is_file()


# In every run: test_a_dry_run_names_every_stage_and_touches_nothing,
# test_explain_says_why_a_file_was_made_again_and_why_not, tests/plan/test_show.py.
@pytest.mark.slow
def test_a_plan_says_what_is_to_be_done_and_why_and_builds_nothing(project: Project) -> None:
    first = project.done(*VIRTUAL, "plan", "flash", "run")
    assert "In all 83 of 83 steps to do" in first.output
    assert (
        first.actions == ["Network miniresnet/network/network.c"] or not (project.root / "build/nucleo-n657").exists()
    )
    plan = json.loads((project.root / "build/plan.json").read_text())
    assert str(project.root) not in json.dumps(plan)
    picture = project.root / "build/plan.svg"
    assert picture.is_file() == (shutil.which("dot") is not None) == ("Without plan.svg: " not in first.output)
    assert not picture.is_file() or picture.read_text().startswith("<svg")
    assert project.scons(*VIRTUAL, "flash").status == 0
    assert "In all nothing to do: 82 steps up to date" in project.scons(*VIRTUAL, "plan", "flash").output
    project.replace("firmware/fsbl/main.c", "not switch to the internal", "not change to the internal")
    told = project.scons(*VIRTUAL, "plan", "flash").output
    assert "In all 3 of 82 steps to do, 7 if those change" in told
    assert "firmware/fsbl/main.c has changed, from " in told


def test_explain_says_why_a_file_was_made_again_and_why_not(built: Project) -> None:
    image = "explain=build/nucleo-n657/fsbl_image.bin"
    assert "is up to date: none of its inputs has changed" in built.scons(*VIRTUAL, image).output
    path = built.root / "build/nucleo-n657/fsbl_image.bin"
    path.write_bytes(path.read_bytes() + b"\0")
    assert "build/nucleo-n657/fsbl_image.bin has been altered since it was made" in built.scons(*VIRTUAL, image).output
    assert built.scons(*VIRTUAL, "build").actions == ["Image fsbl_image.bin"]
    again = built.scons(*VIRTUAL, image).output
    assert "is up to date" in again
    assert "because\n              build/nucleo-n657/fsbl_image.bin has been altered" in again
