"""Memory pools and compiler profiles of ST's tool: shown, and converted to YAML.

    python tools/pools.py import stm32n6.mpool -o pools.yaml     .mpool or profile file -> YAML, losing only comments
    python tools/pools.py export pools.yaml -o stm32n6.mpool     and back
    python tools/pools.py show stm32n6.mpool                     a table
    python tools/pools.py board nucleo-n657 extflash             the .mpool that the build gives the compiler

Without -o, the output goes to the terminal.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "site_scons"))

from n6build.base.console import kib  # noqa: E402
from n6build.base.errors import N6Error  # noqa: E402
from n6build.base.files import read_bytes, write_atomically  # noqa: E402
from n6build.compile.board_pools import pools_of  # noqa: E402
from n6build.compile.lossless import from_yaml, strict_text, to_yaml  # noqa: E402
from n6build.compile.memory_pools import MemoryPool  # noqa: E402
from n6build.compile.mpool import mpool_text, parse_mpool, pools_of_document  # noqa: E402
from n6build.compile.st_edge_ai.compiler_profile import parse_profiles  # noqa: E402
from n6build.describe.hardware.boards import load_board  # noqa: E402

POOLS, PROFILES = "memory_pools", "compiler_profiles"


def main(arguments: list[str]) -> int:
    """Run a command; return 0, or 2 after an error, which is printed."""
    parser = argparse.ArgumentParser(prog="pools.py", description="memory pools and compiler profiles of ST's tool")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, what in (("import", "to YAML"), ("export", "from YAML"), ("show", "as a table")):
        command = commands.add_parser(name, help=what)
        command.add_argument("file", type=Path)
        if name != "show":
            command.add_argument("-o", "--output", type=Path, help="default: the terminal")
    board = commands.add_parser("board", help="the .mpool of a board and profile")
    board.add_argument("board")
    board.add_argument("profile")
    board.add_argument("--non-secure", action="store_true", help="addresses of the non-secure alias")
    board.add_argument("-o", "--output", type=Path, help="default: the terminal")
    options = parser.parse_args(arguments)
    try:
        text = _COMMANDS[options.command](options)
        if getattr(options, "output", None):
            write_atomically(options.output, text)
        else:
            sys.stdout.write(text)
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _read(path: Path) -> tuple[str, Any]:
    """Return (kind, document) of a file; a profile file may have comments.

    The kind follows from the content.
    """
    data = read_bytes(path)
    if b'"Profiles"' in data:
        return PROFILES, parse_profiles(data, path.name)
    return POOLS, parse_mpool(data, path.name)


def _import(options: argparse.Namespace) -> str:
    kind, document = _read(options.file)
    return to_yaml(document, kind)


def _export(options: argparse.Namespace) -> str:
    name = options.file.name
    kind, document = from_yaml(read_bytes(options.file).decode("utf-8", "replace"), name)
    text = strict_text(document) + "\n"
    if kind == PROFILES:
        parse_profiles(text.encode(), name)
    else:
        parse_mpool(text.encode(), name)
    return text


def _show(options: argparse.Namespace) -> str:
    kind, document = _read(options.file)
    if kind == PROFILES:
        rows = [
            f"{name}\n  {profile['memory_pool']}\n  {profile['options']}\n"
            for name, profile in document["Profiles"].items()
        ]
        return "".join(rows)
    return _table(pools_of_document(document, options.file.name))


def _table(pools: tuple[MemoryPool, ...]) -> str:
    head = f"{'pool':<12}{'file':<12}{'base':<12}{'end':<12}{'size':>10}  {'rights':<12}{'mode':<18}initializers\n"
    return head + "".join(
        f"{pool.name:<12}{pool.fname:<12}0x{pool.address:08X}  0x{pool.end:08X}  {kib(pool.size):>8}  {pool.rights:<12}"
        f"{pool.mode:<18}{'yes' if pool.use_for_initializers else ''}".rstrip()
        + "\n"
        for pool in pools
    )


def _board(options: argparse.Namespace) -> str:
    board = load_board(options.board)
    if options.non_secure:
        board = replace(board, alias="non-secure")
    return mpool_text(pools_of(board, options.profile))


_COMMANDS = {"import": _import, "export": _export, "show": _show, "board": _board}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
