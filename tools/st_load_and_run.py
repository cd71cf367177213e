#!/usr/bin/env python3
"""Program a relocatable model, install it and run it, as st_load_and_run.py does.

    tools/st_load_and_run.py -i build/network_rel.bin

The arguments are those of ST's tool. The model is of any tool: ST's, n6build's, or npu_driver.py.
n6build's Appli installs and runs it, with the loader of ST if STEDGEAI_CORE_DIR names ST Edge AI
Core; the model must then have its ABI. Exit status: 0, 255 after an error, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

from n6build.base.environment import option_values, read_environment
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.run.session import read_outcome
from n6build.board.run.st_table import st_table
from n6build.cli.st_tool import Log, add_common_options, heard, parser_of, run_tool
from n6build.describe.choices import Choices, choices_of
from n6build.describe.hardware.boards import home_of_board, load_board
from n6build.describe.project_settings import resolve
from n6build.describe.relocatable_file import params_beside
from n6build.engine.inspect import files_of
from n6build.engine.local import execute, local_site
from n6build.engine.lock import locked_build_folder
from n6build.place.reloc.reader import read_reloc_file
from n6build.steps.planning import planned

_TITLE = "NPU Utility - ST Load and run (dev environment) (version 1.0)"
_ADDRESSES = "0x71000000,0x71800000"


def main(arguments: list[str] | None = None) -> int:
    """Run a model, and return the exit status.

    Args:
        arguments: Arguments, None for those of the command line.
    """
    return run_tool(_TITLE, _parser().parse_args(arguments), _load_and_run)


def _load_and_run(options: argparse.Namespace, log: Log) -> None:
    file: Path = options.input / "network_rel.bin" if options.input.is_dir() else options.input
    log(f"Entry point    : '{file}'")
    log(f"Board          : '{options.board}'")
    model = read_reloc_file(file)
    params = params_beside(file)
    log(f"Params         : '{params}'" if model.is_split else "no splitted model")
    log("")
    board = load_board(options.board, home_of_board(options.board))
    addresses = options.address if model.is_split else options.address.partition(",")[0]
    given = {"model": str(file), "loader": "reloc", "board": board.name, "addresses": addresses, "mode": options.mode}
    if options.probe:
        given["probe"] = options.probe
    choices = choices_of(resolve(given, option_values(), Path.cwd()), Path.cwd())
    with ExitStack() as stack:
        stack.callback(os.close, locked_build_folder(Path(choices.build)))
        _carry_out(choices, log)


def _carry_out(choices: Choices, log: Log) -> None:
    """Build and check everything, then program the board, then run the model."""
    site = local_site(Path(choices.build), dict(read_environment().commands))
    flash = () if "no-flash" in choices.modes else ("flash",)
    with heard(log):
        plan = planned(choices, (*flash, "run"), site)
        execute(plan, files_of(("image", "check"), plan), site)
    log("Resetting the board.")
    if flash:
        _log_files(choices, log)
        with heard(log):
            execute(plan, files_of(flash, plan), site)
    log(f"Loading & start the validation application '{choices.board}-validation-reloc-{choices.load}'..")
    results = files_of(("run",), plan)
    with heard(log):
        execute(plan, results, site)
    log("Deployed model is started and ready to be used.")
    if "no-run" not in choices.modes:
        baud = load_board(choices.board, home_of_board(choices.board)).console.baud
        log(f"Executing the deployed model (desc={VIRTUAL if choices.probe == VIRTUAL else f'serial:{baud}'})..")
        log("")
        for line in st_table(read_outcome(Path(results[0]))):
            log(line)


def _log_files(choices: Choices, log: Log) -> None:
    model = Path(choices.models[0])
    for path, address in zip((model, params_beside(model)), choices.addresses.split(","), strict=False):
        log(f"Flashing '{path}' at address {address} (size={path.stat().st_size})..")


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(_TITLE, __doc__)
    add = parser.add_argument
    add(
        *("--input", "-i"),
        metavar="STR",
        type=Path,
        default=Path("build/network_rel.bin"),
        help="network_rel.bin, or its folder (default: build/network_rel.bin)",
    )
    add("--board", metavar="STR", default="stm32n6570-dk", help="ST development board (default: stm32n6570-dk)")
    add(
        "--address",
        metavar="STR",
        default=_ADDRESSES,
        help=f"destination address - net(,params) (default: {_ADDRESSES})",
    )
    add(
        "--mode",
        metavar="STR",
        default="copy",
        help="copy or xip, and after a comma any of no-flash, no-run, max-speed (default: copy)",
    )
    add("--cube-ide-dir", metavar="STR", help="accepted; n6build needs no STM32CubeIDE")
    add(
        "--probe",
        metavar="STR",
        help="n6build's option: virtual, a programmer or a serial number (default: the only one)",
    )
    add_common_options(parser, "st_load_and_run.log")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
