#!/usr/bin/env python3
"""Features that ST's compiler for the NPU uses, collected from compiled networks.

    tools/npu_envelope.py FOLDER... --onto boards/npu/envelope.yaml             features that these networks newly allow
    tools/npu_envelope.py FOLDER... --onto boards/npu/envelope.yaml -o FILE     the same, and the database with them
    tools/npu_envelope.py FOLDER... -o FILE                                     a database of these networks alone

They are the law for blobs of backend neural_art. Folders are searched for NAME_ecblobs.h. Facts
alone are kept: kinds of units and links, their sizes, bits of registers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.describe.hardware.boards import board_names, load_board
from n6build.judge.npu.blobs import read_blobs
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.own_blobs.envelope import read_envelope
from n6build.judge.own_blobs.widening import EMPTY, envelope_text, newly_allowed, widened


def main(arguments: list[str] | None = None) -> int:
    """Collect features; return 0, or 2 for an unreadable file or damaged data.

    Damaged data are an invalid blob or a damaged database.
    """
    options = _parser().parse_args(arguments)
    try:
        _collect(options)
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _collect(options: argparse.Namespace) -> None:
    names = names_of(load_board(options.board).soc.npu)
    before = read_envelope(options.onto) if options.onto else EMPTY
    headers = sorted({path for folder in options.folders for path in folder.rglob("*_ecblobs.h")})
    if not headers:
        hint = "compile with --enable-epoch-controller: ST's compiler then writes NAME_ecblobs.h"
        where = ", ".join(map(str, options.folders))
        raise N6Error("N6-NPU-018", "contains no NAME_ecblobs.h", where=where, hint=hint)
    after = before
    for header in headers:
        epochs = [epoch for blob in read_blobs(header) for epoch in epochs_of_blob(blob, names)]
        after = widened(after, header.parent.name, epochs, names)
        print(f"{header}: {len(epochs)} epochs")
    lines = newly_allowed(before, after)
    print(f"newly allowed: {len(lines)}")
    for line in lines:
        print(f"  {line}")
    if options.output:
        write_atomically(options.output, envelope_text(after))


def _parser() -> argparse.ArgumentParser:
    description, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folders", nargs="+", type=Path, help="folders with networks that ST's tool compiled")
    parser.add_argument("--onto", type=Path, help="database to extend; without it, an empty one")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="file for the new database; without it, only the newly allowed features are printed",
    )
    parser.add_argument("--board", default="nucleo-n657", choices=board_names(), help="board with the NPU")
    return parser


if __name__ == "__main__":
    sys.exit(main())
