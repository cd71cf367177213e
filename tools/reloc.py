#!/usr/bin/env python3
"""Relocatable models (network_rel.bin): their content, differences, and validity.

    tools/reloc.py show network_rel.bin [--json]
    tools/reloc.py diff OLD NEW
    tools/reloc.py verify network_rel.bin [--params network_rel_params.bin] [--firmware 1.1.3-8] [--non-secure] [--board NAME]

The models are of n6build or ST's tools. `verify` reports whether a loader accepts one.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, to_json
from n6build.compile.ll_aton import Version
from n6build.describe.hardware.boards import board_names, load_board
from n6build.place.reloc.contents import contents_text
from n6build.place.reloc.reader import MAX_BYTES, RelocFile, read_reloc_file
from n6build.place.reloc.reloc_text import as_dict, as_text, differences
from n6build.place.reloc.verify import errors, merged, ram_of, verify


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return 0, 1 for a difference or refusal, 2 for unreadable files."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "show":
            model = read_reloc_file(options.file)
            text = to_json(as_dict(model)) if options.json else as_text(model) + _contents(model, options.file)
            print(text, end="")
            return 0
        if options.command == "diff":
            lines = differences(read_reloc_file(options.old), read_reloc_file(options.new))
            print("\n".join(lines) if lines else "the same")
            return 1 if lines else 0
        return _verify(options)
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _contents(model: RelocFile, file: Path) -> str:
    """Return the content of a model, or the reason why its tables cannot be read."""
    try:
        return contents_text(model, file)
    except N6Error as error:
        return f"{error.what}\n"


def _verify(options: argparse.Namespace) -> int:
    model = read_reloc_file(options.file)
    params = read_at_most(options.params, MAX_BYTES) if options.params else None
    secure = False if options.non_secure else None
    boards = [load_board(name) for name in ([options.board] if options.board else board_names())]
    ram = merged([span for board in boards for span in ram_of(board)])
    findings = verify(model, params, ram, options.firmware, secure=secure)
    for finding in findings:
        print(f"{finding.severity}: {finding.what}")
    if errors(findings):
        return 1
    print(f"{options.file.name}: a loader of ABI {model.abi.letter} accepts it, in copy and XIP mode")
    return 0


def _version(text: str) -> Version:
    match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})-(\d{1,9})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a version of ll_aton such as 1.1.3-8")
    return int(match[1]), int(match[2]), int(match[3]), int(match[4])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="header, runtime, sizes, memory pools, entry points, inputs, outputs")
    show.add_argument("file", type=Path)
    show.add_argument("--json", action="store_true")
    diff = commands.add_parser("diff", help="differences between two models")
    diff.add_argument("old", type=Path)
    diff.add_argument("new", type=Path)
    check = commands.add_parser("verify", help="every check of a loader, and further checks")
    check.add_argument("file", type=Path)
    check.add_argument("--params", type=Path, help="the weights of a split model")
    check.add_argument("--firmware", type=_version, metavar="VERSION", help="ll_aton of the firmware: 1.1.3-8")
    check.add_argument("--board", metavar="NAME", help="board whose RAM is checked; default: any board")
    check.add_argument("--non-secure", action="store_true", help="the firmware runs non-secure")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
