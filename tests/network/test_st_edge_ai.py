"""The contract with ST's compiler: search, call, log and output."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.environment import Environment, read_environment
from n6build.base.errors import N6Error
from n6build.base.files import sha256
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.board_pools import pools_of
from n6build.compile.st_edge_ai.find import CoreVersion, Installation, find_tool, installed_version, parse_version
from n6build.compile.st_edge_ai.log import clean, diagnose, progress_of, read_log
from n6build.compile.st_edge_ai.normalise import normalised_c, normalised_c_info, normalised_text
from n6build.compile.st_edge_ai.run_compiler import compile_network, output_names
from n6build.compile.st_edge_ai.st_edge_ai_options import (
    CompilerOptions,
    check_options,
    check_paths,
    compiler_options,
    generate_command,
    scrubbed,
    with_profile,
)
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.reader import parse_reloc_file
from patience import NET_S, wait_until
from samples import sample
from stedgeai_stand_in import stedgeai
from stedgeai_stand_in.tree import BUILDS, install

from network.network_models import own_models

POOLS = pools_of(load_board("nucleo-n657"), "extflash")
NEWEST = parse_version(f"ST Edge AI Core v{BUILDS['4.0.1']}")


class Compiled:
    """One run of the fake compiler and its results."""

    def __init__(
        self,
        base: Path,
        release: str = "4.0.1",
        options: CompilerOptions | None = None,
        folder: str = "a",
        *,
        relocatable: bool = False,
        **stand_in: str,
    ) -> None:
        self.out = base / folder / "out"
        self.progress: list[int] = []
        self.notes: list[str] = []
        root = base / folder / "core"
        self.installation = Installation(root, install(root, release, **stand_in))
        environment = {**os.environ, "MAKEFLAGS": "-j8", "CFLAGS": "-O0"}
        self.version = installed_version(self.installation, environment, base / folder)
        model = next(path for path in own_models() if path.stem == "keyword")
        compile_network(
            model,
            POOLS,
            self.out,
            "network",
            options or CompilerOptions(),
            self.installation,
            self.version,
            environment,
            on_progress=self.progress.append,
            on_note=self.notes.append,
            relocatable=relocatable,
            timeout_s=3 if stand_in.get("scenario") == "sleeps" else NET_S,
        )

    @property
    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.out.iterdir() if path.suffix != ".log"}


Compile = Callable[..., Compiled]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    return partial(Compiled, tmp_path)


@pytest.mark.parametrize("release", BUILDS)
def test_the_output_of_every_release_becomes_the_same_artifacts(compiled: Compile, release: str) -> None:
    run = compiled(release)
    artifacts = read_artifacts(run.out, "network")
    assert artifacts.suffix == ("Default" if release.startswith("2") else "network")
    assert artifacts.ll_aton == stedgeai.LL_ATON[release[:3]]
    assert artifacts.tools[0] == ("ST.EdgeAI.Core", BUILDS[release])
    assert [image.fname for image in artifacts.initializers] == ["xSPI2"]
    assert set(run.files) == set(output_names("network", POOLS, CompilerOptions(), run.version))


def test_a_relocatable_model_is_taken_from_the_workspace(compiled: Compile) -> None:
    run = compiled("4.0.0", relocatable=True)
    assert set(run.files) == set(output_names("network", POOLS, CompilerOptions(), run.version, relocatable=True))
    assert parse_reloc_file(run.files["network_rel.bin"], "network_rel.bin").version == (1, 1, 3, 262)


def test_its_progress_bar_becomes_ours(compiled: Compile) -> None:
    progress = compiled().progress
    assert progress == sorted(progress)
    assert progress[-1] == 100


@pytest.mark.parametrize("release", ["2.2", "4.0.1"])
def test_two_runs_on_two_machines_give_the_same_bytes(compiled: Compile, release: str) -> None:
    one = compiled(release, folder="a", machine="one").files
    two = compiled(release, folder="b", machine="two").files
    assert {name: sha256(data) for name, data in one.items()} == {name: sha256(data) for name, data in two.items()}
    for name, data in one.items():
        assert b"/home/" not in data, name
        assert b"2026-05" not in data, name


def test_a_changed_option_reaches_the_compiler(compiled: Compile) -> None:
    assert "network_ecblobs.h" in compiled(folder="a").files
    assert "network_ecblobs.h" not in compiled(options=CompilerOptions(options="-O3"), folder="b").files


# Every known message, with its error id and the numbers in it.
ROWS = [
    ("pools too small", "N6-STAI-028", "9412608 bytes missing (configuration 0: 9674752, configuration 1: 9412608)"),
    ("atonn failed", "N6-STAI-033", "operator LSTM has no implementation"),
    ("pools are no json", "N6-STAI-021", "cannot read its memory pools"),
    ("float model", "N6-STAI-026", "not quantised: 40 tensors compute in float, _model_0_conv_output_0 first"),
    ("ir version", "N6-STAI-022", "ONNX IR version 10, but this release of the tool reads up to 9"),
    ("flow without npu", "N6-STAI-029", "6405160 bytes are needed"),
    ("invalid model", "N6-STAI-031", "E010(InvalidModelError): Couldn't load"),
    ("importer", "N6-STAI-031", "TOOL ERROR: list index out of range"),
    ("arguments", "N6-STAI-030", "E102(CliArgumentError): Wrong parameter"),
    ("letters", "N6-STAI-023", "a non-ASCII character in a path"),
    ("crash", "N6-STAI-024", "crashed (signal 11)"),
    ("dropped quantisation", "N6-CHECK-017", "dropped the quantisation"),
    ("board side", "N6-STAI-025", "tried to reach a board"),
    ("ai studio", "N6-STAI-028", "9674752 bytes missing"),
    ("usable output, status 255", "N6-STAI-033", "something went wrong at the very end"),
    ("nothing written", "N6-STAI-040", "status 0, but did not write network.c"),
]


@pytest.mark.parametrize(("scenario", "id", "text"), ROWS, ids=[row[0] for row in ROWS])
def test_every_failure_has_an_id_numbers_and_a_hint(compiled: Compile, scenario: str, id: str, text: str) -> None:
    with pytest.raises(N6Error) as caught:
        compiled(scenario=scenario)
    assert caught.value.id == id
    assert text in caught.value.what
    assert caught.value.hint
    assert "Traceback" not in str(caught.value)


def test_a_failure_leaves_earlier_output_as_it_was(compiled: Compile, tmp_path: Path) -> None:
    before = compiled().files
    shutil.rmtree(tmp_path / "a/core")
    with pytest.raises(N6Error):
        compiled(scenario="crash")
    after = {path.name: path.read_bytes() for path in (tmp_path / "a/out").iterdir() if path.suffix != ".log"}
    assert after == before


@pytest.mark.parametrize(
    ("scenario", "note"), [("undefined pool symbol", "relative memory pools"), ("old profile key", "memory_desc")]
)
def test_what_is_no_failure_is_a_note(compiled: Compile, scenario: str, note: str) -> None:
    (said,) = compiled(scenario=scenario).notes
    assert note in said


def test_float_tensors_alone_are_no_failure(compiled: Compile) -> None:
    assert compiled(scenario="float model, status 0").files


def test_a_run_without_end_is_ended_with_all_that_it_started(compiled: Compile, tmp_path: Path) -> None:
    """The process and its child would sleep for an hour.

    A machine that is too busy to start the child in three seconds proves less.
    """
    with pytest.raises(N6Error, match="N6-STAI-041: n6build stopped stedgeai after 3 s"):
        compiled(scenario="sleeps")
    children = [int(file.read_text() or 0) for file in tmp_path.rglob("sleeping")]
    wait_until(lambda: not any(is_running(child) for child in children))


def is_running(pid: int) -> bool:
    """Return whether the process runs; a zombie does not run.

    The machine decides which process removes a zombie.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def caller(home: Path, **values: str) -> Environment:
    return read_environment({"HOME": str(home), "PATH": "", **values})


def test_the_core_folder_is_stronger_than_a_pack_and_a_pack_than_the_path(tmp_path: Path) -> None:
    core, home, path = tmp_path / "core", tmp_path / "home", tmp_path / "bin"
    packs = home / "STM32Cube/Repository/Packs/STMicroelectronics/X-CUBE-AI"
    assert find_tool(caller(home, PATH=str(path))) is None
    path.mkdir()
    shutil.copy2(install(tmp_path / "elsewhere"), path / "stedgeai")
    assert find_tool(caller(home, PATH=str(path))) == Installation(None, path / "stedgeai")
    for release in ("9.0.0", "10.2.0", "10.10.0"):
        newest = install(packs / release)
    assert find_tool(caller(home, PATH=str(path))) == Installation(packs / "10.10.0", newest)
    executable = install(core)
    assert find_tool(caller(home, STEDGEAI_CORE_DIR=str(core), PATH=str(path))) == Installation(core, executable)


def test_a_core_folder_with_the_runtime_alone_leaves_the_tool_to_the_path(tmp_path: Path) -> None:
    project, path = tmp_path / "project", tmp_path / "bin"
    for folder in (project, path):
        folder.mkdir()
    assert find_tool(caller(tmp_path, STEDGEAI_CORE_DIR=str(project), PATH=str(path))) is None
    shutil.copy2(install(tmp_path / "elsewhere"), path / "stedgeai")
    found = find_tool(caller(tmp_path, STEDGEAI_CORE_DIR=str(project), PATH=str(path)))
    assert found == Installation(None, path / "stedgeai")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("ST Edge AI Core v4.0.1-20581 7ed50de05\n  more", (4, 0, 1)),
        ("noise\nST Edge AI Core v2.0.0-20049\n", (2, 0, 0)),
        ("ST Edge AI Core v4.7.0-1", (4, 7, 0)),
    ],
)
def test_versions(text: str, version: tuple[int, int, int]) -> None:
    found = parse_version(text)
    assert (found.major, found.minor, found.micro) == version


@pytest.mark.parametrize(("text", "id"), [("", "002"), ("bash: no", "002"), ("ST Edge AI Core v1.0.0", "003")])
def test_versions_that_are_none_or_too_old(text: str, id: str) -> None:
    with pytest.raises(N6Error, match=f"N6-STAI-{id}"):
        parse_version(text)


def test_the_version_is_asked_once_for_each_executable(tmp_path: Path) -> None:
    installation = Installation(tmp_path, install(tmp_path, "3.0"))
    notes = tmp_path / "notes"
    assert installed_version(installation, os.environ, notes).text == BUILDS["3.0"]
    before = installation.executable.stat()
    installation.executable.chmod(0o600)
    assert installed_version(installation, os.environ, notes).text == BUILDS["3.0"]
    install(tmp_path, "4.0.1")
    os.utime(installation.executable, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert installed_version(installation, os.environ, notes).text == BUILDS["4.0.1"]


def test_helium_scratch_is_asked_for_where_the_release_needs_it() -> None:
    old, new = CoreVersion(2, 2, 0, "2.2.0"), CoreVersion(3, 0, 0, "3.0.0")
    assert compiler_options(CompilerOptions(), old).endswith("--mvei")
    assert "--mvei" not in compiler_options(CompilerOptions(), new)


def test_options_become_arguments() -> None:
    options = CompilerOptions(
        input_data_type="uint8", outputs_ch_position="chlast", own_outputs=True, arguments=("--quiet",)
    )
    paths = {"profile": Path("/p.json"), "output": Path("/o"), "workspace": Path("/w")}
    tool, model = Installation(None, Path("/x")), Path("/m.onnx")
    command = generate_command(tool, model, options, name="od", relocatable=False, **paths)
    text = " ".join(command)
    for part in (
        "--target stm32n6",
        "--st-neural-art n6build@/p.json",
        "--name od",
        "--input-data-type uint8",
        "--outputs-ch-position chlast",
        "--no-outputs-allocation --quiet",
    ):
        assert part in text
    assert "--no-inputs-allocation" not in text
    assert "--relocatable" not in text
    # The option is not the last one: a following argument would be its mode.
    command = generate_command(tool, model, CompilerOptions(), name="od", relocatable=True, **paths)
    assert command[command.index("--relocatable") + 1] == "--st-neural-art"


def test_options_may_come_from_a_profile_file(tmp_path: Path) -> None:
    (tmp_path / "team.json").write_text(
        '{"Profiles": {"fast": {"memory_pool": "x", /* ours */ "options": "-O3 --Oauto"}}}'
    )
    named = CompilerOptions(profile="fast@team.json")
    assert with_profile(named, tmp_path).options == "-O3 --Oauto"
    with pytest.raises(N6Error, match="N6-PROFILE-003: no profile 'slow'"):
        with_profile(CompilerOptions(profile="slow@team.json"), tmp_path)
    for wrong in ("fast", "@team.json", "fast@"):
        with pytest.raises(N6Error, match="N6-STAI-013"):
            with_profile(CompilerOptions(profile=wrong), tmp_path)
    with pytest.raises(N6Error, match="both 'profile' and 'options'"):
        check_options(CompilerOptions(profile="fast@team.json", options="-O3"), "model.yaml")


@pytest.mark.parametrize("argument", ["--binary", "--memory-pool=a.json", "-O", "--name", "-o"])
def test_arguments_of_another_flow_or_of_the_build_are_refused(argument: str) -> None:
    with pytest.raises(N6Error, match="N6-STAI-010") as caught:
        check_options(CompilerOptions(arguments=(argument,)), "model.yaml")
    assert caught.value.where == "model.yaml"


def test_paths_beyond_ascii_and_intermediate_models_are_refused() -> None:
    with pytest.raises(N6Error, match="N6-STAI-011: ST's compiler crashes on the character 'ü'"):
        check_paths(Path("/büro/model.tflite"))
    with pytest.raises(N6Error, match="N6-STAI-012"):
        check_paths(Path("/a/model_OE_3_3_1.onnx"))


def test_variables_that_make_would_obey_are_left_out() -> None:
    assert scrubbed({"PATH": "/bin", "MAKEFLAGS": "-j8", "LDFLAGS": "x", "HOME": "/root"}) == {
        "PATH": "/bin",
        "HOME": "/root",
    }


def test_log_lines_are_cleaned() -> None:
    text = "2026-06-16 21:30:05,481 [INFO] CmdLine:76 - \x1b[31mone\x1b[0m\r\nPASS:  40%|###  | 4/10\rtwo\n\n"
    assert clean(text) == ["one", "two"]
    assert [progress_of(line) for line in ("PASS:   7%|", "PASS: 100%|##", "two")] == [7, 100, None]


def test_real_logs_are_understood() -> None:
    log = read_log(sample("logs/e103-float-model.txt").read_text())
    error = diagnose(log, 255, pool_bytes=1 << 20)
    assert error is not None
    assert (error.id, len(log.not_quantised)) == ("N6-STAI-026", 612)


def test_a_real_log_of_two_runs_that_failed_for_different_reasons() -> None:
    first, second = sample("logs/e700-m55-out-of-ram.txt").read_text().split("Ho cambiato la versione di ir")
    errors = [diagnose(read_log(text), 255, pool_bytes=1 << 20) for text in (first, second)]
    assert [error and error.id for error in errors] == ["N6-STAI-022", "N6-STAI-028"]
    assert "ONNX IR version 10, but this release of the tool reads up to 9" in str(errors[0])
    assert "3211264 bytes missing" in str(errors[1])


@given(
    st.lists(
        st.sampled_from([*"\r\n\x1b[0m \tE103():", "PASS:", "ERROR", "<<<", ">>> Shell execution has FAILED", "7"])
    )
)
def test_any_log_is_survived(parts: list[str]) -> None:
    error = diagnose(read_log("".join(parts)), 255, pool_bytes=1)
    assert error is not None
    assert error.id.startswith("N6-STAI")


code = st.text(alphabet="abc/\\\"'*{}();=#<>:- \n0123456789", max_size=200)


@given(code)
def test_code_outside_comments_is_never_touched(text: str) -> None:
    def outside(source: str) -> str:
        return re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)

    assert outside(normalised_c(text)) == outside(text)


@given(st.binary(max_size=60) | st.sampled_from([b"{}", b"[]", b'{"environment": []}', b"[" * 5000]))
def test_a_description_that_is_none_is_an_error_of_ours(data: bytes) -> None:
    try:
        normalised_c_info(data, "c_info.json")
    except N6Error as error:
        assert error.id == "N6-NET-020"


@pytest.mark.parametrize("name", ["core-2.0-tiny_yolo_v2_224", "core-3.0-mobilenet_v2", "core-4.0.0-timeseries"])
def test_a_description_is_the_same_for_another_file_of_the_same_network(name: str) -> None:
    """Every release gives an MD5 of the model's file."""
    data = gzip.decompress(sample(f"c_info/{name}.json.gz").read_bytes())
    digest = re.search(rb'"signature": "0x[0-9a-f]{32}"', data)
    assert digest is not None
    other = data.replace(digest[0], b'"signature": "0x%032x"' % 1)
    assert normalised_c_info(other, "c_info.json") == normalised_c_info(data, "c_info.json")


def test_hostile_text_comes_to_an_end() -> None:
    for text in ("/" * 200_000, "/a" * 100_000, "/*" * 100_000, "E103(" * 50_000, "\x1b[" * 100_000, '"' * 200_000):
        normalised_c(text)
        normalised_text(text)
        read_log(text)


def test_the_stand_in_refuses_what_the_tool_would(tmp_path: Path) -> None:
    executable = install(tmp_path)
    result = subprocess.run([executable, "generate", "--model", "m"], capture_output=True, text=True, check=False)
    assert result.returncode not in (0, 255)
