#!/usr/bin/env python3
"""A relocatable model from network.c and weights, as ST's npu_driver.py makes one.

    tools/npu_driver.py -i st_ai_output/network.c -o build

The arguments are those of ST's tool. If STEDGEAI_CORE_DIR or --pack-dir names ST Edge AI Core, the
model is linked with ST's ll_aton and for its ABI; otherwise with n6build's runtime, for networks
whose epochs all run on the CPU. Exit status: 0, 255 after an error, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

from n6build.base.environment import Environment, cmsis_folders, read_environment
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.cli.st_tool import Log, add_common_options, heard, parser_of, run_tool
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.runtimes import Runtime, own_runtime, st_runtime
from n6build.compile.toolchain import find_toolchain
from n6build.describe.compiled_folder import PrebuiltNetwork, find_network
from n6build.engine.ledger import FOLDER
from n6build.engine.local import execute, local_site
from n6build.engine.lock import locked_build_folder
from n6build.engine.plan import make_plan
from n6build.place.reloc.pools import pool_table
from n6build.place.reloc.reader import read_reloc_file
from n6build.place.reloc.reloc_text import pool_table as shown_pool_table
from n6build.place.reloc.reloc_text import report_json, summary
from n6build.steps.reloc_networks import ModelOptions, imported_network, stage2_plan

_TITLE = "NPU Utility - Relocatable model generator (version 1.0)"
_NOT_OFFERED = ("llvm", "st_clang", "compatible_mode", "custom", "cross_compile")


def main(arguments: list[str] | None = None) -> int:
    """Make a model, and return 0, or 255 after an error, which is printed.

    Args:
        arguments: Arguments, None for those of the command line.
    """
    return run_tool(_TITLE, _parser().parse_args(arguments), _make)


def _make(options: argparse.Namespace, log: Log) -> None:
    for name in _NOT_OFFERED:
        if getattr(options, name):
            what = f"--{name.replace('_', '-')} is unsupported: n6build compiles models with gcc"
            raise N6Error("N6-RELOC-022", what, hint="omit it")
    source = _source(options)
    environment = read_environment()
    runtime = _runtime(options, environment)
    log(f"Entry point    : '{source}'")
    log(f"Runtime        : {runtime.name}, ll_aton {'.'.join(map(str, runtime.version[:3]))}-{runtime.version[3]}")
    log(f"Context        : {'non-secure' if options.no_secure else 'secure'}{', split' if options.split else ''}")
    log("")
    with ExitStack() as stack:
        if options.no_clean:
            work = options.output / f"{source.stem}_rel_build"
        else:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.callback(os.close, locked_build_folder(work))
        network = find_network(source.parent, source.stem)
        log(f"   reading {len(network.inputs)} files", level=1)
        if options.parse_only:
            _show_pools(network, work, environment, log, secure=not options.no_secure)
        else:
            files = _model(network, work, options, runtime, environment, log)
            _report(files if options.json is None else [*files, _json(files, options)], log)


def _show_pools(network: PrebuiltNetwork, work: Path, environment: Environment, log: Log, *, secure: bool) -> None:
    """Print the memory pools, without a compiler or the network's runtime."""
    imported = imported_network(network, project_path(work))
    with heard(log):
        execute(make_plan([imported.step]), imported.step.outputs, local_site(work, dict(environment.commands)))
    artifacts = read_artifacts(Path(imported.folder), imported.name)
    pools = pool_table(artifacts, secure=secure).pools
    log(shown_pool_table(pools, 0, [0] * len(pools)).rstrip("\n"))


def _model(
    network: PrebuiltNetwork,
    work: Path,
    options: argparse.Namespace,
    runtime: Runtime,
    environment: Environment,
    log: Log,
) -> list[Path]:
    """Return the files of the model, network_rel.bin first."""
    site = local_site(work, dict(environment.commands))
    plan, model = stage2_plan(
        network,
        project_path(work),
        project_path(options.output),
        runtime,
        find_toolchain(environment, work / FOLDER if options.no_clean else None),
        ModelOptions(
            secure=not options.no_secure,
            split=options.split,
            c_file=options.gen_c_file,
            debug_info=not options.no_dbg_info,
            blobs_in_params=options.ecblob_in_params,
        ),
    )
    with heard(log):
        execute(plan, model.files, site)
    if not options.split:
        # Weights of an earlier split model would be mistaken for weights of this model.
        (options.output / f"{network.name}_rel_params.bin").unlink(missing_ok=True)
    return [options.output / Path(file).name for file in model.files]


def _json(files: list[Path], options: argparse.Namespace) -> Path:
    """Write the report, and return its path."""
    path = Path(options.json) if options.json else files[0].with_suffix(".json")
    text = report_json(read_reloc_file(files[0]), [(each.name, each.stat().st_size) for each in files])
    write_atomically(path, text)
    return path


def _report(files: list[Path], log: Log) -> None:
    log(summary(read_reloc_file(files[0])).rstrip("\n"))
    log("")
    log("   Generating files...")
    for path in files:
        log(f'    creating "{path}" (size={path.stat().st_size:,})')


def _source(options: argparse.Namespace) -> Path:
    path: Path = options.input
    source = path / f"{options.name}.c" if path.is_dir() else path
    if not source.is_file():
        hint = "pass -i with a network.c, or the folder in which `stedgeai generate` wrote it"
        raise N6Error("N6-RELOC-023", "the file does not exist", where=str(source), hint=hint)
    return source


def _runtime(options: argparse.Namespace, environment: Environment) -> Runtime:
    core = Path(options.pack_dir) if options.pack_dir else environment.core
    return st_runtime(core, cmsis_folders()) if core else own_runtime()


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(_TITLE, __doc__)
    add = parser.add_argument
    add("--input", "-i", metavar="STR", type=Path, default=Path("st_ai_output"), help="network.c, or its folder")
    add("--output", "-o", metavar="STR", type=Path, default=Path("build"), help="output directory")
    add("--name", "-n", metavar="STR", default="network", help="basename of the generated c-files (default=network)")
    add("--no-secure", action="store_true", help="for the non-secure context; pools need non-secure addresses")
    add("--split", action="store_true", help="the weights as a separate binary file")
    add("--pack-dir", metavar="STR", help="installation directory of ST Edge AI Core")
    add("--gen-c-file", action="store_true", help="the model as C array, too")
    add("--parse-only", action="store_true", help="only read the generated c-files, and show the memory pools")
    add("--no-clean", action="store_true", help="keep the intermediate files")
    add_common_options(parser, "npu_driver.log")
    add(
        "--no-dbg-info",
        action="store_true",
        help="no debug fields in the epoch table; the firmware must not have them either",
    )
    add("--ecblob-in-params", action="store_true", help="the blobs of the epoch controller in front of the weights")
    add(
        "--json",
        metavar="STR",
        nargs="?",
        const="",
        help="a report in JSON: pools, sizes, versions (default=<name>_rel.json in the output directory)",
    )
    for name in _NOT_OFFERED:
        add(f"--{name.replace('_', '-')}", nargs="?", const=True, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
