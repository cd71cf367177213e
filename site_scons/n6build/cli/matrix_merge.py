"""The command `n6build matrix-merge`: joins the results of the parts of a matrix.

Several machines have built the parts. The result is the same as if one machine had built all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.bounded import parse_json
from n6build.base.console import only_errors
from n6build.base.files import read_bytes
from n6build.cli.arguments import CommandParser, add_build, add_output
from n6build.cli.json_output import print_json

HELP = "joins the results of the shards of a matrix (scons matrix shard=3/8): tables, history, trends, regressions"


def matrix_merge(words: Sequence[str]) -> None:
    """Join the results of the parts of a matrix.

    The program ends after --help.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-019 for missing words; N6-MATRIX-001 to -004 for parts that do not fit
            together; N6-MATRIX-005, -006 and
            -008 as in `add_to_history`; N6-MATRIX-007 if a pair has failed.
    """
    from n6build.tell.matrix.conclude import add_to_history, raise_if_failed, write_results
    from n6build.tell.matrix.shard_results import merged

    options = merge_parser().parse_args(words)
    with only_errors(options.quiet or options.json):
        found = merged(options.files)
        folder = Path(options.build) / "matrix"
        write_results(folder, found.results)
        add_to_history(folder, Path(), found)
    if options.json:
        print_json(parse_json(read_bytes(folder / "matrix.json")))
    raise_if_failed(found.results)


def merge_parser() -> CommandParser:
    """Return the parser of the words behind `n6build matrix-merge`."""
    parser = CommandParser(prog="n6build matrix-merge", description=f"{HELP}.", allow_abbrev=False)
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="result of a shard, for example build/matrix/shard-3-of-8.json",
    )
    add_build(parser)
    add_output(parser)
    return parser
