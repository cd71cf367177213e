#!/usr/bin/env python3
"""network.c and its weights -> a relocatable model, with the arguments of ST's npu_driver.py.

    tools/npu_driver.py -i st_ai_output/network.c -o build

Where STEDGEAI_CORE_DIR or --pack-dir names ST Edge AI Core, the model is linked with ST's ll_aton and for its ABI; otherwise
with n6build's runtime, for networks whose epochs all run on the CPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

from n6build.errors import N6Error
from n6build.files import write_atomically
from n6build.network.prebuilt import find_network, import_network
from n6build.network.runtimes import Runtime, own_runtime, st_runtime
from n6build.network.st_edge_ai.find import CORE_DIR
from n6build.reloc.make import Made, Options, make_model, read_pools
from n6build.reloc.reader import read_reloc_file
from n6build.reloc.show import pool_table, summary

_NAME = "NPU Utility - Relocatable model generator (n6build)"
_NOT_OFFERED = ("ecblob_in_params", "llvm", "st_clang", "compatible_mode", "custom", "cross_compile")


class _Log:
    """Lines of the console, of which a log file gets a copy."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity = verbosity
        self.lines: list[str] = []

    def __call__(self, text: str, *, level: int = 0) -> None:
        self.lines.append(text)
        if level <= self._verbosity:
            print(text)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    log = _Log(2 if options.debug else options.verbosity)
    status = 0
    try:
        _make(options, log)
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        log.lines.append(str(error))
        status = 2
    if options.log:
        write_atomically(Path(options.log), "\n".join(log.lines) + "\n")
    return status


def _make(options: argparse.Namespace, log: _Log) -> None:
    for name in _NOT_OFFERED:
        if getattr(options, name):
            what = (
                f"--{name.replace('_', '-')} is not offered: models are compiled with gcc, and blobs stay in the code"
            )
            raise N6Error("N6-RELOC-022", what, hint="leave it away")
    log(_NAME)
    log("")
    source = _source(options)
    runtime = _runtime(options)
    log(f"Entry point    : '{source}'")
    log(f"Runtime        : {runtime.name}, ll_aton {'.'.join(map(str, runtime.version[:3]))}-{runtime.version[3]}")
    log(f"Context        : {'non-secure' if options.no_secure else 'secure'}{', split' if options.split else ''}")
    log("")
    with ExitStack() as stack:
        if options.no_clean:
            work = options.output / f"{source.stem}_rel_build"
            work.mkdir(parents=True, exist_ok=True)
        else:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        network = find_network(source.parent, source.stem)
        log(f"   reading {len(network.inputs)} files", level=1)
        import_network(network, work / "network")
        if options.parse_only:
            table = read_pools(work / "network", network.name, secure=not options.no_secure)
            log(pool_table(table.pools, 0, [0] * len(table.pools)).rstrip("\n"))
            return
        made = make_model(
            work / "network",
            network.name,
            work,
            options.output,
            runtime,
            Options(
                secure=not options.no_secure,
                split=options.split,
                c_file=options.gen_c_file,
                debug_info=not options.no_dbg_info,
            ),
        )
        _report(made, log)


def _report(made: Made, log: _Log) -> None:
    log(summary(read_reloc_file(made.file)).rstrip("\n"))
    log("")
    log("   Generating files...")
    for path in (made.file, made.params, *made.others):
        if path is not None:
            log(f'    creating "{path}" (size={path.stat().st_size:,})')


def _source(options: argparse.Namespace) -> Path:
    path: Path = options.input
    source = path / f"{options.name}.c" if path.is_dir() else path
    if not source.is_file():
        hint = "-i names a network.c, or the folder that stedgeai generate has written it to"
        raise N6Error("N6-RELOC-023", "there is no such file", where=str(source), hint=hint)
    return source


def _runtime(options: argparse.Namespace) -> Runtime:
    core = options.pack_dir or os.environ.get(CORE_DIR)
    cmsis = tuple(Path(folder) for folder in os.environ.get("N6BUILD_CMSIS", "").split(os.pathsep) if folder)
    return st_runtime(Path(core), cmsis) if core else own_runtime()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--input", "-i", metavar="STR", type=Path, default=Path("st_ai_output"), help="network.c, or its folder")
    add("--output", "-o", metavar="STR", type=Path, default=Path("build"), help="output directory")
    add("--name", "-n", metavar="STR", default="network", help="basename of the generated c-files (default=network)")
    add("--no-secure", action="store_true", help="for the non-secure context; pools need non-secure addresses")
    add("--split", action="store_true", help="the weights as a binary file of their own")
    add("--pack-dir", metavar="STR", help="installation directory of ST Edge AI Core")
    add("--gen-c-file", action="store_true", help="the model as C array, too")
    add("--parse-only", action="store_true", help="only read the generated c-files, and show the memory pools")
    add("--no-clean", action="store_true", help="keep the intermediate files")
    add("--log", metavar="STR", nargs="?", const="npu_driver.log", help="log file")
    add("--verbosity", "-v", type=int, choices=(0, 1, 2), nargs="?", const=1, default=0, help="verbosity level")
    add("--debug", action="store_true", help="all that is known of what is done")
    add("--no-color", action="store_true", help="accepted: there is no color to disable")
    add(
        "--no-dbg-info",
        action="store_true",
        help="no debug fields in the epoch table; the firmware must not have them either",
    )
    for name in _NOT_OFFERED:
        add(f"--{name.replace('_', '-')}", nargs="?", const=True, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
