"""CMake host projects: rebuilds and refusals.

All generators and the oldest CMake are tested.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from slow_rows import telling_rows

from end_to_end.conftest import make_project
from end_to_end.hosts import NEWEST, OLDEST, Host, digests_of, move_older_model_over, steps_in, times_of
from end_to_end.test_examples import SAID

OF_A_PROGRAM = ["Check checks.json", "Manifest flash_manifest.json", "Place appli_placed.bin"]
LINES = re.compile(r"find_package.*(?=# n6build: end)", re.DOTALL)


def configure(host: Host, *more: str, cmake: Path = NEWEST, folder: str = "build", **environment: str) -> str:
    kept = [host.cmake_package(), "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake", "-DCMAKE_BUILD_TYPE=MinSizeRel"]
    if not any("-G" in word for word in more):
        more = ("-G", "Ninja", *more)
    return host.call(cmake, "-S", ".", "-B", folder, *kept, *more, **environment)


def build(host: Host, *more: str, cmake: Path = NEWEST, folder: str = "build", **environment: str) -> str:
    return host.call(cmake, "--build", folder, "-j", "2", *more, **environment)


def with_lines(host: Host, lines: str) -> None:
    """Replace the example's own n6build lines."""
    path = host.root / "CMakeLists.txt"
    path.write_text(LINES.sub(lambda _: f"find_package(n6build CONFIG REQUIRED)\n{lines}\n", path.read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["Ninja", pytest.param("Unix Makefiles", marks=pytest.mark.slow)])
def test_each_change_rebuilds_what_it_must_and_nothing_else(tmp_path: Path, generator: str) -> None:
    """All changes use one build folder, which finally equals a new one byte for byte."""
    project = make_project(tmp_path)
    host = Host(tmp_path, "cmake", project.root / "site_scons")
    shutil.copytree(project.root / "boards/nucleo-n657", host.root / "boards/nucleo-n657")
    with_lines(
        host, "n6build_add_network(app MODEL own_model BOARD nucleo-n657 OPTIONS ${CHOSEN})\nn6build_image(app ALL)"
    )
    configure(host, "-G", generator)
    first = build(host)
    assert first.count("Network n6build/app") == 1
    assert first.count("Place n6build/app") == 1

    def change(what: Callable[[], object]) -> list[str]:
        what()
        done = steps_in(build(host))
        before = times_of(host.root / "build/n6build")
        assert steps_in(build(host)) == []
        assert times_of(host.root / "build/n6build") == before
        return done

    def write(path: Path, text: str) -> Callable[[], object]:
        return lambda: path.write_text(text)

    # A source of the host changes.
    assert change(lambda: host.replace("src/main.c", "host: hello", "host: HELLO")) == OF_A_PROGRAM
    # CMake's cache has another option. The toolchain's files may differ, so all is compiled.
    assert change(lambda: configure(host, "-G", generator, "-DCHOSEN=loader=linked\\;profile=noextmem")) != []
    # The model's description changes, but not its network.
    described = host.root / "own_model/model.yaml"
    text = described.read_text()
    done = change(write(described, text.replace("name: keyword", "name: spotting")))
    assert "Network network.c" in done
    assert not any("fsbl" in step or "conv_2d" in step for step in done)
    # A C file and a header only become newer. n6build keeps the dependency of the objects on the header.
    for path in (project.root / "firmware").rglob("n6_console.[ch]"):
        path.touch()
    assert steps_in(build(host)) == []
    # The host's own board changes.
    board = host.root / "boards/nucleo-n657/board.yaml"
    done = change(write(board, board.read_text().replace("baud: 115_200", "baud: 230_400")))
    assert {"Header n6_board_console.h", "Compile n6_console.c"} <= set(done)
    assert "Network network.c" not in done
    # A source appears in a folder of n6build.
    source = project.root / "firmware/appli/another.c"
    done = change(write(source, "int n6_another(void);\nint n6_another(void)\n{\n    return 1;\n}\n"))
    assert "Compile another.c" in done
    assert not any("conv_2d" in step for step in done)
    # A header appears where the compiler looks before it finds another one.
    header = next(path for path in (project.root / "firmware").rglob("n6_cache.h"))
    done = change(lambda: shutil.copy(header, project.root / "firmware/kernels/n6_another.h"))
    assert done == []
    includes = [path for path in (project.root / "firmware").rglob("*.c") if '"n6_cache.h"' in path.read_text()]
    beside = next(path for path in includes if path.parent != header.parent)
    done = change(lambda: shutil.copy(header, beside.parent / "n6_cache.h"))
    assert f"Compile {beside.name}" in done
    assert not any("conv_2d" in step for step in done)
    # The header disappears again.
    assert f"Compile {beside.name}" in change((beside.parent / "n6_cache.h").unlink)

    made = digests_of(host.root / "build/n6build/app/nucleo-n657/spotting-foreign")
    shutil.rmtree(host.root / "build")
    configure(host, "-G", generator, "-DCHOSEN=loader=linked\\;profile=noextmem")
    build(host)
    assert digests_of(host.root / "build/n6build/app/nucleo-n657/spotting-foreign") == made


# In every run: test_a_model_that_the_project_makes_is_made_first.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("cmake", "generator"),
    [
        (NEWEST, "Ninja"),
        (OLDEST, "Ninja"),
        (NEWEST, "Unix Makefiles"),
        (OLDEST, "Unix Makefiles"),
    ],
)
def test_a_model_that_an_older_file_replaces_is_compiled_and_nothing_is_linked_for_a_weight(
    tmp_path: Path, cmake: Path, generator: str
) -> None:
    host = Host(tmp_path, "cmake")
    host.replace("CMakeLists.txt", "MODEL keyword", "MODEL own_model/keyword.tflite")
    configure(host, "-G", generator, cmake=cmake)
    build(host, cmake=cmake)
    (weights,) = host.root.glob("build/n6build/app/*/*/weights_xSPI2.bin")
    before = weights.read_bytes()
    move_older_model_over(host.root / "own_model/keyword.tflite")
    again = build(host, cmake=cmake)
    assert "Network network.c" in steps_in(again)
    assert "Linking" not in again and "Configuring" not in again
    assert weights.read_bytes() != before
    # Other pools have another folder: the host links the same files, and CMake does not run.
    (host.root / "n6build.local.yaml").write_text("profile: noextmem\n")
    again = build(host, cmake=cmake)
    assert "Linking" in again and "Configuring" not in again
    again = build(host, cmake=cmake)
    assert steps_in(again) == [] and "Linking" not in again


def test_a_model_that_the_project_makes_is_made_first(tmp_path: Path) -> None:
    host = Host(tmp_path, "cmake")
    host.replace(
        "CMakeLists.txt",
        "n6build_add_network(app MODEL keyword BOARD nucleo-n657)",
        "add_custom_command(OUTPUT trained.tflite DEPENDS own_model/keyword.tflite\n"
        "    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/own_model/keyword.tflite trained.tflite)\n"
        "n6build_add_network(app MODEL ${CMAKE_CURRENT_BINARY_DIR}/trained.tflite BOARD nucleo-n657 DEPENDS trained.tflite)",
    )
    configure(host)
    assert "Network network.c" in steps_in(build(host))
    (weights,) = host.root.glob("build/n6build/app/*/*/weights_xSPI2.bin")
    before = weights.read_bytes()
    # Ninja sees no change in either file, since both are older than their outputs. n6build sees the changed
    # model.
    move_older_model_over(host.root / "own_model/keyword.tflite")
    assert steps_in(build(host)) == []
    move_older_model_over(host.root / "build/trained.tflite")
    again = build(host)
    assert "Network network.c" in steps_in(again)
    assert "Linking" not in again and "Configuring" not in again
    assert weights.read_bytes() != before
    # Other pools have another folder, and the project restores its old model: the host links again, and CMake
    # does not run.
    move_older_model_over(host.root / "own_model/keyword.tflite")
    (host.root / "own_model/keyword.tflite").touch()
    (host.root / "n6build.local.yaml").write_text("profile: noextmem\n")
    again = build(host)
    assert "Network network.c" in steps_in(again)
    assert "Linking" in again and "Configuring" not in again
    (copied,) = host.root.glob("build/n6build/app/*/*-noextmem*/weights*.bin")
    assert copied.read_bytes()[:29072] == before[:29072]
    again = build(host)
    assert steps_in(again) == [] and "Linking" not in again


@pytest.mark.slow
def test_another_compiler_is_found_when_cmake_runs_and_not_before(tmp_path: Path) -> None:
    host = Host(tmp_path, "cmake")
    configure(host)
    build(host)
    made = of_the_program(host)
    compiler = tmp_path / "other/arm-none-eabi-gcc"
    compiler.parent.mkdir()
    compiler.write_text(f'#!/bin/sh\necho used >> "{tmp_path}/used"\nexec "{shutil.which("arm-none-eabi-gcc")}" "$@"\n')
    compiler.chmod(0o755)
    host.path.insert(0, str(compiler.parent))
    (host.root / "build/n6build/app/nucleo-n657/include/n6_soc.h").unlink()
    assert steps_in(build(host)) != []
    assert not (tmp_path / "used").exists()
    configure(host)
    assert any("conv_2d.c" in step for step in steps_in(build(host)))
    assert (tmp_path / "used").exists()
    assert of_the_program(host) == made


def of_the_program(host: Host) -> dict[str, str]:
    """Return the digests of the program's files, without those that name the compiler."""
    made = digests_of(host.root / "build/n6build/app/nucleo-n657")
    return {name: made[name] for name in made if Path(name).name not in ("provenance.json", "sbom.cdx.json")}


@pytest.mark.parametrize(
    ("cmake", "generator"),
    [
        pytest.param(OLDEST, "Unix Makefiles", marks=pytest.mark.slow),
        pytest.param(NEWEST, "Ninja", marks=pytest.mark.slow),
        pytest.param(NEWEST, "Unix Makefiles", marks=pytest.mark.slow),
        pytest.param(OLDEST, "Ninja", marks=pytest.mark.slow),
    ],
    ids=["oldest and Make", "newest and Ninja", "newest and Make", "oldest and Ninja"],
)
def test_clean_leaves_nothing_that_was_built_and_takes_nothing_else(
    tmp_path: Path, cmake: Path, generator: str
) -> None:
    host = Host(tmp_path, "cmake")
    configure(host, "-G", generator, cmake=cmake)
    sources = times_of(host.root / "src")
    build(host, cmake=cmake)
    made = digests_of(host.root / "build/n6build/app")
    build(host, "--target", "clean", cmake=cmake)
    # CMake owns the script that calls n6build, so `clean` keeps it.
    assert [path.name for path in (host.root / "build/n6build").rglob("*") if path.is_file()] == ["app.sh"]
    assert times_of(host.root / "src") == sources
    again = build(host, cmake=cmake)
    assert again.count("Network n6build/app") == 1
    assert digests_of(host.root / "build/n6build/app") == made
    assert steps_in(build(host, cmake=cmake)) == []


@pytest.mark.slow
@pytest.mark.parametrize("cmake", [NEWEST, OLDEST], ids=["newest", "oldest"])
def test_configurations_of_ninja_have_plans_of_their_own(tmp_path: Path, cmake: Path) -> None:
    host = Host(tmp_path, "cmake")
    configure(host, "-G", "Ninja Multi-Config", cmake=cmake)
    for config in ("Debug", "Release", "Debug"):
        build(host, "--config", config, cmake=cmake)
        program = host.root / f"build/n6build/app/{config}/program/app.elf"
        assert program.read_bytes() == (host.root / f"build/{config}/app.elf").read_bytes()
    assert steps_in(build(host, "--config", "Release", cmake=cmake)) == []
    assert not (host.root / "build/n6build/app/RelWithDebInfo/nucleo-n657").exists()


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_build_folder_may_be_anywhere_and_the_sources_are_not_written_to(tmp_path: Path, generator: str) -> None:
    host = Host(tmp_path, "cmake")
    before = times_of(host.root)
    for path in (host.root, *host.root.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    elsewhere = str(tmp_path / "out of trée")
    configure(host, "-G", generator, folder=elsewhere)
    build(host, folder=elsewhere)
    assert SAID in build(host, "-t", "app_n6_run", folder=elsewhere)
    for path in (host.root, *host.root.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    assert times_of(host.root) == before
    assert not [*host.root.rglob(".n6build")]
    assert steps_in(build(host, folder=elsewhere)) == []


@pytest.mark.slow
def test_two_programs_in_one_project_and_two_build_folders_at_a_time(tmp_path: Path) -> None:
    host = Host(tmp_path, "cmake")
    path = host.root / "CMakeLists.txt"
    text = path.read_text()
    # Add the same program again, under another name and for another board.
    made = text[text.index("add_executable") :].replace("(app ", "(second ").replace("TARGET app ", "TARGET second ")
    made = made.replace("find_package(n6build CONFIG REQUIRED)\n", "").replace(
        "BOARD nucleo-n657", "BOARD stm32n6570-dk PROFILE noextmem"
    )
    path.write_text(text + made)
    for folder in ("one", "two"):
        configure(host, folder=folder)
    running = [host.start(NEWEST, "--build", folder, "-j", "2") for folder in ("one", "two")]
    said = [process.communicate(timeout=600)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    for folder in ("one", "two"):
        products = host.root / folder / "n6build"
        assert {path.name for path in products.glob("*/*/*/flash_manifest.json")} == {"flash_manifest.json"}
        assert (products / "second/stm32n6570-dk").is_dir()
        assert (products / "app/nucleo-n657").is_dir()
        assert steps_in(build(host, folder=folder)) == []


@pytest.mark.slow
def test_presets_and_the_toolchain_file_stay_the_host_s(tmp_path: Path) -> None:
    host = Host(tmp_path, "cmake")
    configured = host.call(OLDEST, "--preset", "release", host.cmake_package())
    assert "arm-none-eabi-gcc" in configured
    cache = (host.root / "build/CMakeCache.txt").read_text()
    assert "CMAKE_BUILD_TYPE:STRING=MinSizeRel" in cache
    assert re.search(r"CMAKE_TOOLCHAIN_FILE:\w+=.*/toolchain.cmake", cache)
    flags = (host.root / "toolchain.cmake").read_text()
    configure(host, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", folder="other", cmake=OLDEST)
    theirs = json.loads((host.root / "other/compile_commands.json").read_text())
    assert {Path(entry["file"]).name for entry in theirs} == {"main.c", "sensor.c", "startup.c", "uart.c"}
    assert all("-mcpu=cortex-m55" in entry["command"] for entry in theirs), flags
    ours = json.loads((host.root / "other/n6build/app/compile_commands.json").read_text())
    entry = next(entry for entry in ours if entry["file"].endswith("kernels/conv_2d.c"))
    build(host, folder="other", cmake=OLDEST)
    # The command works as written.
    subprocess.run(entry["arguments"], cwd=entry["directory"], check=True)


@pytest.mark.parametrize("cmake", [pytest.param(NEWEST, marks=pytest.mark.slow), OLDEST], ids=["newest", "oldest"])
def test_versions_that_a_project_asks_for(tmp_path: Path, cmake: Path) -> None:
    host = Host(tmp_path, "cmake")
    version = host.call("n6build", "--version").split()[1]
    major, minor = map(int, version.split(".")[:2])
    (host.root / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(app C)\nfind_package(n6build ${WANTED} CONFIG REQUIRED)\n"
        'message(STATUS "is ${n6build_VERSION}")\n'
    )
    for wanted in ("", f"{major}.{minor}", f"{major}.0...{major}.{minor + 1}"):
        assert f"is {version}" in configure(host, f"-DWANTED={wanted}", cmake=cmake)
    for wanted in (f"{major}.{minor + 1}", f"{major + 1}.0", f"{major}.0...<{major}.{minor}"):
        with pytest.raises(AssertionError, match=rf"version: {re.escape(version)}"):
            configure(host, f"-DWANTED={wanted}", cmake=cmake)


ADD = "n6build_add_network(app MODEL keyword BOARD nucleo-n657)"
REFUSED = {
    "board": (ADD.replace("n657", "n658"), "error N6-BOARD-001: no board 'nucleo-n658'"),
    "profile": (ADD.replace(")", " PROFILE nosuch)"), "N6-BOARD-009"),
    "model": (
        ADD.replace("keyword", "model/keywrd.tflite"),
        "N6-MODEL-001: no model file or folder 'model/keywrd.tflite'",
    ),
    "no model": ("n6build_add_network(app BOARD nucleo-n657)", "MODEL is missing"),
    "option": (ADD.replace(")", " OPTIONS profil=noextmem)"), "N6-OPTION-001: unknown option 'profil'"),
    "keyword": (ADD.replace("BOARD", "BORD"), "N6-MODEL-001: no model 'BORD'"),
    "no value": (ADD.replace(" nucleo-n657", ""), "BOARD has no value"),
    "a library": (
        f"add_library(lib src/main.c)\n{ADD.replace('(app', '(lib')}",
        "lib must be a target of add_executable",
    ),
    "twice": (f"{ADD}\n{ADD}", "is called twice"),
    "words": (f"{ADD}\nn6build_flash(app probe=virtual)", "unknown arguments probe=virtual"),
}


# The planner's refusals are all passed on in the same way, so one case runs always. The planner has its own
# tests.
_BY_THE_PLANNER = ("profile", "model", "option", "keyword")


@pytest.mark.parametrize("case", telling_rows(REFUSED, lambda case: case not in _BY_THE_PLANNER))
def test_what_is_refused_names_the_line_of_the_host(tmp_path: Path, case: str) -> None:
    host = Host(tmp_path, "cmake")
    lines, said = REFUSED[case]
    with_lines(host, lines)
    output = host.refused(NEWEST, "--preset", "release", host.cmake_package())
    assert said in " ".join(output.split())
    text = (host.root / "CMakeLists.txt").read_text().splitlines()
    line = max(number for number, each in enumerate(text, 1) if each.startswith("n6build_"))
    assert f"CMakeLists.txt:{line} (n6build_" in output


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (ADD.replace("(app", "(nobody"), "n6build_add_network(nobody): target nobody does not exist"),
        ("n6build_image(app)", "n6build_image(app): n6build_add_network(app ...) is missing"),
        ("n6build_flash(nobody OPTIONS probe=virtual)", "n6build_flash(nobody): target nobody does not exist"),
    ],
)
def test_what_is_missing_at_the_end_of_the_file_is_refused(tmp_path: Path, lines: str, said: str) -> None:
    host = Host(tmp_path, "cmake")
    with_lines(host, lines)
    output = host.refused(NEWEST, "--preset", "release", host.cmake_package())
    assert said in " ".join(output.split())


def test_a_target_of_another_folder_and_a_compiler_of_this_computer_are_refused(tmp_path: Path) -> None:
    host = Host(tmp_path, "cmake")
    (host.root / "sub").mkdir()
    (host.root / "sub/CMakeLists.txt").write_text(f"find_package(n6build CONFIG REQUIRED)\n{ADD}\n")
    with_lines(host, "add_subdirectory(sub)")
    assert "must be in" in host.refused(NEWEST, "--preset", "release", host.cmake_package())
    with_lines_of = (host.root / "CMakeLists.txt").read_text().replace("add_subdirectory(sub)", ADD)
    (host.root / "CMakeLists.txt").write_text(with_lines_of)
    said = " ".join(host.refused(NEWEST, "-S", ".", "-B", "native", host.cmake_package()).split())
    assert "compiles for this computer" in said


def test_a_command_that_is_missing_does_not_work_or_belongs_to_another_n6build(tmp_path: Path) -> None:
    host = Host(tmp_path, "cmake")
    package = host.cmake_package()

    def refused(*more: str) -> str:
        words = ("-S", ".", "-B", "build", "-G", "Unix Makefiles", "--fresh", "--toolchain", "toolchain.cmake")
        return " ".join(host.refused(NEWEST, *words, package, *more).split())

    host.path = [folder for folder in host.path if not (Path(folder) / "n6build").exists()]
    assert "the command n6build is not in PATH" in refused()
    assert "does not work" in refused("-DN6BUILD_EXECUTABLE=/bin/false")
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho /usr\n")
    other.chmod(0o755)
    assert f"{other} belongs to /usr" in refused(f"-DN6BUILD_EXECUTABLE={other}")


@pytest.mark.slow
def test_no_compiler_and_an_error_of_the_compiler(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    host = Host(tmp_path, "cmake", project.root / "site_scons")
    configure(host)
    kernel = project.root / "firmware/kernels/conv_2d.c"
    text = kernel.read_text()
    kernel.write_text(text + "#error this is wrong\n")
    said = host.refused(NEWEST, "--build", "build")
    assert f"conv_2d.c:{text.count(chr(10)) + 1}:2: error: #error this is wrong" in said
    assert "conv_2d.c: error N6-STEP-010" in said
    kernel.write_text(text)
    build(host)
    # The project's toolchain file may name a compiler that is not in PATH. n6build needs one there.
    (host.root / "toolchain.cmake").write_text(
        (host.root / "toolchain.cmake").read_text().replace("arm-none-eabi-gcc", str(shutil.which("arm-none-eabi-gcc")))
    )
    package = host.cmake_package()
    host.path = [str(host.command.parent), str(empty_path(tmp_path))]
    words = ("--preset", "release", "-B", "fresh", package, "-G", "Unix Makefiles")
    assert "error N6-TOOL-001" in host.refused(NEWEST, *words)


def empty_path(folder: Path) -> Path:
    """Return a folder for PATH with the tools of a shell, and without a compiler."""
    place = folder / "few"
    place.mkdir()
    for name in ("sh", "make", "env", "uname", "cat", "rm", "mkdir", "grep", "ar"):
        found = shutil.which(name)
        if found:
            (place / name).symlink_to(found)
    return place
