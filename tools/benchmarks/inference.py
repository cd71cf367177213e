"""The virtual board's own speed: a network of ST's compiler from boot to result."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from n6build.board.run.console_log import ends_run
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, nor_command
from n6build.describe.hardware.boards import load_board
from samples import samples_folder

from benchmarks.measure import FIGURES, Rows, scons, temporary_project

DETECTION = "projects/STM32N6-GettingStarted-ObjectDetection"
HEADERS = "apps/audio"
RUNS = 3


def inference(board: str = "stm32n6570-dk", model: str = "", core: str = "", cmsis: str = "") -> Rows:
    """Yield the CPU time of a run on the virtual board.

    Args:
        board: Name of the board.
        model: Folder with network.c and its weights; by default YOLO-X of the samples.
        core: Folder with ST's runtime; by default of the samples.
        cmsis: Folder with CMSIS; by default of the samples.

    Raises:
        SystemExit: There are no samples, or the build fails.
    """
    samples = samples_folder()
    if not (model and core and cmsis) and samples is None:
        raise SystemExit("inference needs the samples (N6BUILD_SAMPLES), or model=, core= and cmsis=")
    here = samples or Path()
    network = Path(model or here / DETECTION / "Model" / "STM32N6570-DK").absolute()
    environment = {"STEDGEAI_CORE_DIR": core or str(here / DETECTION), "N6BUILD_CMSIS": cmsis or str(here / HEADERS)}
    yield FIGURES
    with temporary_project() as project:
        scons(project, f"board={board}", f"model={network}", "probe=virtual", "flash", environment=environment)
        ran = scons(project, f"board={board}", f"model={network}", "probe=virtual", "run", environment=environment)
        yield "scons run, processor time", f"{ran.cpu:.2f} s", ""
        nor = project / "build" / "virtual_board" / board / "nor.bin"
        for cache, goal in (("on", "2.5 s"), ("off", "")):
            user, system = min(_boot(nor, board, cache) for _ in range(RUNS))
            spent = f"{user:.2f} s of user CPU, {system:.2f} s of the system's"
            yield f"{network.name} from boot to result, data cache {cache}", spent, goal


def _boot(nor: Path, board: str, cache: str) -> tuple[float, float]:
    """Return the user and system CPU of a run, in seconds."""
    described = load_board(board)
    with tempfile.TemporaryDirectory() as folder:
        findings = Path(folder) / "findings.jsonl"
        command = nor_command(find_emulator(described.soc), NorBoot(nor, described), findings, "stdio", Limits())
        machine = command.index("-M") + 1
        command[machine] += f",cache={cache}"
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        if not any(ends_run(line) for line in process.stdout):
            raise SystemExit("the run ended without a result")
        process.terminate()
        # The rest of the output would otherwise keep the emulator waiting.
        process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
    return used.ru_utime, used.ru_stime
