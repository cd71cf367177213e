"""Third-party compilers and runtimes, in real scons on a copy of the project.

The steps before and after a compiler are tested, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from core_tree import make_core
from n6build.compile.board_pools import pools_of
from n6build.compile.reference.compile_model import compile_network
from n6build.describe.hardware.boards import load_board
from onnx_models import onnx_model
from patience import NET_S, wait_until
from stedgeai_stand_in.tree import install

from end_to_end.conftest import EQUAL, Project

RUN = ("model=keyword", "probe=virtual", "flash", "run")


def path_with(folder: Path) -> dict[str, str]:
    """Return a PATH in which stedgeai is the stand-in.

    The network is then ST's, and the runtime is n6build's.
    """
    return {"PATH": f"{folder / 'Utilities/linux'}:{os.environ['PATH']}"}


def test_st_s_compiler_is_used_where_it_is_found(project: Project, tmp_path: Path) -> None:
    install(tmp_path / "core", "3.0")
    result = project.done(*RUN, "report", **path_with(tmp_path / "core"))
    assert "Backend st_edge_ai, ST Edge AI Core 3.0.0-20426" in result.output
    assert EQUAL in result.output
    # ST's epochs begin at 2, and their MACs are not counted.
    report = json.loads((project.root / "build/nucleo-n657/keyword/report.json").read_text())
    epochs = report["networks"][0]["epochs"]
    assert [epoch["index"] for epoch in epochs] == list(range(2, len(epochs) + 2))
    assert all(epoch["cycles"] > 100 and epoch["macs"] is None for epoch in epochs)
    rows = re.findall(r"^ +(\d+)  [A-Z]\w+ .*\[", result.output, re.MULTILINE)
    assert [int(number) for number in rows] == [epoch["index"] for epoch in epochs]
    assert "MAC" not in result.output
    assert project.scons("model=keyword", "probe=virtual", "flash", **path_with(tmp_path / "core")).actions == []
    # The compiler also writes the digest of the model's file, which is ignored: only the weights differ,
    # which a check reads.
    project.change_one_weight("keyword")
    changed = project.scons("model=keyword", "probe=virtual", "flash", **path_with(tmp_path / "core")).actions
    assert [action.split()[0] for action in changed] == ["Network", "Weights", "Manifest", "Check", "Flash"]


def alive_in_session(session: int) -> list[str]:
    """Return the names of living processes in a session, from /proc."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().rpartition(")")
            state, _, _, number = rest.split()[:4]
            if int(number) == session and state != "Z":
                found.append(name)
    return found


@pytest.mark.slow
def test_ctrl_c_ends_the_compiler_and_what_it_has_started(project: Project, tmp_path: Path) -> None:
    install(tmp_path / "core", scenario="sleeps")
    with project.started("model=keyword", "network", **path_with(tmp_path / "core")) as process:
        wait_until(lambda: any("sleep" in name for name in alive_in_session(process.pid)), process)
        os.killpg(process.pid, signal.SIGINT)  # A terminal sends the same signal.
        output, _ = process.communicate(timeout=NET_S)
    assert "Traceback" not in output
    wait_until(lambda: not alive_in_session(process.pid))
    assert not (project.root / "build/nucleo-n657/keyword/network/network.c").exists()


@pytest.mark.slow
def test_another_release_compiles_again_and_the_same_one_does_not(project: Project, tmp_path: Path) -> None:
    build, place = ("model=keyword", "network"), path_with(tmp_path / "core")
    install(tmp_path / "core", "3.0")
    assert project.scons(*build, **place).status == 0
    before = (project.root / "build/nucleo-n657/keyword/network/network.c").read_bytes()
    install(tmp_path / "core", "3.0")
    assert project.scons(*build, **place).actions == []
    # The tool has another state (another machine), but gives the same output.
    install(tmp_path / "core", "3.0", machine="two")
    assert project.scons(*build, **place).actions == ["Network keyword/network/network.c"]
    assert (project.root / "build/nucleo-n657/keyword/network/network.c").read_bytes() == before
    install(tmp_path / "core", "4.0.1")
    result = project.scons(*build, **place)
    assert result.actions == ["Network keyword/network/network.c"]
    assert (project.root / "build/nucleo-n657/keyword/network/network.c").read_bytes() != before


@pytest.mark.slow
def test_a_network_for_another_runtime_is_refused_before_it_is_compiled(project: Project, tmp_path: Path) -> None:
    install(tmp_path / "core", "2.2")
    result = project.scons("model=keyword", "build", **path_with(tmp_path / "core")).refused()
    assert "N6-CHECK-018: asks for ll_aton 1.1.1-14 (ST Edge AI Core 2.2)" in result.output
    assert "or accept it with a reason: checks.waive.N6-CHECK-018 in model.yaml" in result.output
    assert "Compile build/nucleo-n657/keyword/network/network.c" not in result.output


@pytest.mark.slow
@pytest.mark.parametrize("loader", [pytest.param("linked", marks=pytest.mark.slow), "reloc"])
def test_a_waived_version_gate_lets_the_build_go_on(project: Project, loader: str) -> None:
    assert project.scons("model=keyword", f"loader={loader}", "network").status == 0
    elsewhere = project.root / "models/keyword/elsewhere"
    made = "keyword-reloc" if loader == "reloc" else "keyword"
    shutil.copytree(project.root / f"build/nucleo-n657/{made}/network", elsewhere)
    project.replace("models/keyword/elsewhere/network.c", "(LL_ATON_VERSION_DEV != 8)", "(LL_ATON_VERSION_DEV != 9)")
    project.replace("models/keyword/model.yaml", "  input_type", "  folder: elsewhere\n  input_type")
    arguments = (*RUN, "backend=prebuilt", f"loader={loader}")
    assert "N6-CHECK-018: asks for ll_aton 1.1.3-9" in project.scons(*arguments).refused().output
    assert json.loads((project.root / "build/last_error.json").read_text())["id"] == "N6-CHECK-018"
    waiver = "checks: {waive: {N6-CHECK-018: tried on the bench}}\nresult: classification"
    project.replace("models/keyword/model.yaml", "result: classification", waiver)
    result = project.done(*arguments)
    assert "Waived keyword: network.c: asks for ll_aton 1.1.3-9" in result.output
    assert "waived: tried on the bench" in result.output
    assert EQUAL in result.output
    assert project.scons(*(each for each in arguments if each != "run")).actions == []


def test_what_the_compiler_says_reaches_the_user(project: Project, tmp_path: Path) -> None:
    install(tmp_path / "core", scenario="pools too small")
    result = project.scons("model=keyword", "build", **path_with(tmp_path / "core")).refused()
    assert "N6-STAI-028" in result.output
    assert "9412608 bytes missing" in result.output
    assert json.loads((project.root / "build/last_error.json").read_text())["id"] == "N6-STAI-028"
    assert "PASS:" not in result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "release", "ll_aton"),
    [
        pytest.param("reference", "3.0", (1, 1, 3, 8), marks=pytest.mark.slow),
        ("reference", "4.0.1", (1, 1, 3, 275)),
        ("st_edge_ai", "3.0", (1, 1, 3, 8)),
        pytest.param("st_edge_ai", "4.0.0", (1, 1, 3, 262), marks=pytest.mark.slow),
    ],
)
def test_st_s_runtime_is_linked_where_its_folder_is_named(
    project: Project, tmp_path: Path, backend: str, release: str, ll_aton: tuple[int, int, int, int]
) -> None:
    core = make_core(tmp_path / "core", ll_aton)
    install(core, release)
    result = project.done(*RUN, f"backend={backend}", "verbose=1", STEDGEAI_CORE_DIR=str(core))
    link = next(line for line in result.output.splitlines() if "appli.elf" in line and "-Wl,-Map" in line)
    assert "NetworkRuntime1100_CM55_GCC.a" in link
    compiled = next(line for line in result.output.splitlines() if line.endswith("ll_aton_lib_sw_operators.c"))
    for flag in ("-DLL_ATON_PLATFORM=LL_ATON_PLAT_STM32N6", "-std=gnu11", "-mcmse"):
        assert flag in compiled
    assert EQUAL in result.output


@pytest.mark.slow
def test_flags_of_an_st_project_may_be_added_as_they_are(project: Project) -> None:
    project.replace("SConstruct", 'tools=["n6"', 'N6_CCFLAGS=["-fcyclomatic-complexity", "-DMINE"], tools=["n6"')
    result = project.done("verbose=1", "build")
    compiled = next(line for line in result.output.splitlines() if "n6_clock.c" in line)
    assert "-DMINE" in compiled
    assert "cyclomatic" not in compiled


@pytest.mark.slow
def test_a_core_folder_without_a_runtime_is_said_at_once(project: Project, tmp_path: Path) -> None:
    assert "N6-LLATON-002" in project.scons("build", STEDGEAI_CORE_DIR=str(tmp_path)).refused().output
    assert project.scons("boards", STEDGEAI_CORE_DIR=str(tmp_path)).status == 0


# In every run: tests/network/test_prebuilt.py, and a network of ST's compiler in test_real_core.py.
@pytest.mark.slow
@pytest.mark.built(*RUN[:-1])
def test_a_network_that_was_compiled_elsewhere(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "from a colleague"
    shutil.copytree(project.root / "build/nucleo-n657/keyword/network", elsewhere)
    (elsewhere / "network_atonbuf.xSPI2.raw").rename(elsewhere / "network_data.xSPI2.bin")
    (elsewhere / "network_c_info.json").unlink()
    result = project.done(f"model={elsewhere}", "probe=virtual", "flash", "run")
    assert "Backend prebuilt" in result.output
    assert "n6 done runs=2" in result.output
    assert project.scons(f"model={elsewhere}", "probe=virtual", "flash").actions == []
    with (elsewhere / "network_data.xSPI2.bin").open("r+b") as file:
        file.write(b"\x55")
    again = project.scons(f"model={elsewhere}", "probe=virtual", "flash")
    assert [action.split()[0] for action in again.actions].count("Network") == 1
    assert not [action for action in again.actions if action.startswith(("Compile", "Link"))]


@pytest.mark.slow
def test_a_network_whose_weights_are_in_the_slot_of_the_appli(project: Project, tmp_path: Path) -> None:
    """The Appli ends before the weights in its slot, as in ST's audio application."""
    board = load_board("nucleo-n657")
    pools = [
        replace(pool, address=0x7018_0000) if pool.name == "octoFlash" else pool for pool in pools_of(board, "extflash")
    ]
    (tmp_path / "fixed").mkdir()
    (model,) = (project.root / "models/keyword").glob("*.tflite")
    compile_network(model, pools, tmp_path / "fixed")
    result = project.done(f"model={tmp_path / 'fixed'}", "probe=virtual", "flash", "run")
    said = "Slot 0x70180000 for the weights of fixed, where its code reads them; it takes room from slot 'appli'"
    assert said in result.output
    assert re.search(r"flash slot appli +[\d,]+ +524,288 ", result.output)
    assert "n6 image xSPI2 in-place" in result.output
    assert "n6 done runs=2" in result.output


def with_own_output(folder: Path) -> None:
    """Change a compiled network so that the application allocates its output.

    stedgeai --no-outputs-allocation makes such networks.
    """
    source = (folder / "network.c").read_text()
    place = re.search(r"LL_ATON_Cache_MCU_Clean_Range\((ATON_LIB_PHYSICAL_TO_VIRTUAL_ADDR\([^)]*\)), (\d+)\);", source)
    assert place
    source = source.replace(place[0], f"memcpy(own_output, (void *){place[1]}, {place[2]});", 1)
    setter = source.index("LL_ATON_Set_User_Output_Buffer_network")
    refused = "return LL_ATON_User_IO_WRONG_INDEX;"
    taken = f"own_output = buffer; return num == 0 && size == {place[2]} ? LL_ATON_User_IO_NOERROR : LL_ATON_User_IO_WRONG_SIZE;"
    source = source[:setter] + source[setter:].replace(refused, taken, 1)
    first = "LL_ATON_User_IO_Result_t LL_ATON_Set"
    source = source.replace(first, f"#include <string.h>\nstatic unsigned char *own_output;\n{first}", 1)
    outputs = source.index("*LL_ATON_Output_Buffers_Info_network")
    info = source[outputs:]
    info = re.sub(r"\.addr_base = .*,", ".addr_base = { (unsigned char *)&own_output },", info, count=1)
    info = re.sub(r"\.offset_start = \d+,", ".offset_start = 0,", info, count=1)
    info = re.sub(r"\.offset_end = \d+,", f".offset_end = {place[2]},", info, count=1)
    info = info.replace(".is_user_allocated = 0", ".is_user_allocated = 1", 1)
    (folder / "network.c").write_text(source[:outputs] + info)


@pytest.mark.slow
@pytest.mark.parametrize(
    "described",
    [pytest.param(True, id="in c_info", marks=pytest.mark.slow), pytest.param(False, id="in network.c")],
)
@pytest.mark.built(*RUN[:-1])
def test_buffers_that_a_network_wants_from_the_application(project: Project, described: bool) -> None:
    elsewhere = project.root / "models/keyword/elsewhere"
    shutil.copytree(project.root / "build/nucleo-n657/keyword/network", elsewhere)
    with_own_output(elsewhere)
    path = elsewhere / "network_c_info.json"
    info = json.loads(path.read_text())
    pool = {
        **info["memory_pools"][0],
        "id": 99,
        "name": "user_io",
        "fname": "",
        "address": None,
        "user_allocated": True,
    }
    info["memory_pools"].append(pool)
    output = next(buffer for buffer in info["buffers"] if buffer["id"] == info["graphs"][0]["outputs"][0])
    output |= {"mpool_id": 99, "offset_start": 0}
    path.write_text(json.dumps(info))
    if not described:
        path.unlink()
    project.replace("models/keyword/model.yaml", "  input_type", "  folder: elsewhere\n  input_type")
    assert EQUAL in project.done(*RUN).output
    plan = json.loads((project.root / "build/nucleo-n657/keyword/memory_plan.json").read_text())
    assert plan["networks"][0]["own_buffers"] == [{"direction": "output", "index": 0, "bytes": 12, "address": 0}]


@pytest.mark.slow
@pytest.mark.built(*RUN[:-1])
def test_what_one_backend_left_is_not_taken_for_another_s(project: Project) -> None:
    folder = project.root / "build/nucleo-n657/keyword/network"
    elsewhere = project.root / "models/keyword/elsewhere"
    elsewhere.mkdir()
    shutil.copy2(folder / "network.c", elsewhere)
    shutil.copy2(folder / "network_atonbuf.xSPI2.raw", elsewhere / "weights.bin")
    project.replace("models/keyword/model.yaml", "  input_type", "  folder: elsewhere\n  input_type")
    assert EQUAL in project.done(*RUN, "backend=prebuilt").output
    assert sorted(path.name for path in folder.iterdir()) == ["network.c", "network_atonbuf.raw"]
    assert EQUAL in project.scons(*RUN, "backend=reference").output
    assert "network_atonbuf.raw" not in {path.name for path in folder.iterdir()}


def test_a_backend_that_cannot_take_the_model(project: Project) -> None:
    result = project.scons("model=keyword", "backend=prebuilt")
    assert (result.status, "N6-NET-024: no compiled network is given" in result.output) == (2, True)
    result = project.scons("model=keyword", "backend=st_edge_ai")
    assert (result.status, "N6-STAI-004: ST Edge AI Core was not found" in result.output) == (2, True)
    assert "did you mean 'reference'" in project.scons("backend=refrence").output


@pytest.mark.slow
def test_a_model_that_st_s_compiler_cannot_use_is_not_given_to_it(project: Project, tmp_path: Path) -> None:
    install(tmp_path / "core")
    (tmp_path / "float.onnx").write_bytes(onnx_model(quantised=False))
    result = project.scons(f"model={tmp_path / 'float.onnx'}", **path_with(tmp_path / "core")).refused()
    assert "N6-CHECK-016: all 1 operators with weights compute in float" in result.output
    assert "Backend" not in result.output
    result = project.scons(f"model={tmp_path / 'float.onnx'}")
    assert "N6-NET-004: is a model of float32: none of its 1 nodes is quantised" in result.output


# In every run: tests/checks/test_checks.py (waivers), tests/plan/test_command.py (a step that fails).
@pytest.mark.slow
def test_a_failed_check_stops_before_the_board_and_a_waiver_lets_it_pass(project: Project) -> None:
    project.replace("models/keyword/model.yaml", "output_type: int8", "output_type: float32")
    flash = ("model=keyword", "probe=virtual", "flash")
    result = project.scons(*flash).refused()
    assert "N6-CHECK-014: is int8, but model.yaml declares float32" in result.output
    assert "Flashed" not in result.output
    assert not (project.root / "build/virtual_board/nucleo-n657/nor.bin").exists()
    assert project.scons("model=keyword", "check").status == 2
    assert project.scons("model=keyword", "report").status == 0
    page = (project.root / "build/nucleo-n657/keyword/report.html").read_text()
    assert "is int8, but model.yaml declares float32" in page
    waiver = "checks: {waive: {N6-CHECK-014: the application converts}}\nresult: classification"
    project.replace("models/keyword/model.yaml", "result: classification", waiver)
    result = project.done(*flash)
    assert "waived: the application converts" in result.output
    assert "10 passed, 1 waived, 21 had nothing to check" in result.output


@pytest.mark.slow
def test_the_report_tells_what_this_call_has_rebuilt(project: Project) -> None:
    first = project.done("model=keyword", "probe=virtual", "flash", "run", "report")
    folder = project.root / "build/nucleo-n657/keyword"
    report = json.loads((folder / "report.json").read_text())
    assert {action["stage"] for action in report["actions"]} >= {"network", "compile", "link", "flash", "run"}
    assert report["networks"][0]["epochs"][0]["cycles"] > 1000
    assert (folder / "report.txt").read_text() in first.output
    project.done("model=keyword", "report")
    report = json.loads((folder / "report.json").read_text())
    assert report["actions"] == []
    assert report["networks"][0]["epochs"][0]["cycles"] is None
    assert "every target was up to date" in (folder / "report.html").read_text()


@pytest.mark.slow
def test_a_header_for_the_application_around_a_network(project: Project) -> None:
    project.replace(
        "models/miniresnet/model.yaml",
        "result: classification",
        "application: {input: {colour: grey}, aspect: fit}\nresult: classification",
    )
    project.done("build")
    header = (project.root / "build/nucleo-n657/miniresnet/network_app/app_config.h").read_text()
    assert "#define NN_WIDTH (50)" in header
    assert "#define NB_CLASSES (10)" in header
    assert project.scons("build").actions == []


@pytest.mark.slow
def test_a_larger_pool_moves_the_limits_that_a_linker_sees(project: Project) -> None:
    project.replace("models/keyword/model.yaml", "  input_type: int8", "  pools: {hyperRAM: 28M}\n  input_type: int8")
    result = project.done("board=openmv-n6", "profile=allmems", "model=keyword", "probe=virtual", "flash", "run")
    script = (project.root / "build/openmv-n6/keyword-allmems/n6_pools.ld").read_text()
    assert "n6_region_heap_end = 0x91C00000;\nn6_region_uma_start = 0x91C00000;" in script
    assert EQUAL in result.output


@pytest.mark.slow
def test_a_larger_pool_that_does_not_fit_says_by_how_much(project: Project) -> None:
    project.replace("models/keyword/model.yaml", "  input_type: int8", "  pools: {hyperRAM: 30M}\n  input_type: int8")
    result = project.scons("board=openmv-n6", "profile=allmems", "model=keyword").refused()
    assert "N6-POOL-003: pool hyperRAM needs 30.0 MiB of region 'heap', 2.0 MiB more than its limit" in result.output
