"""The measured figures of the project, by named cases.

    make bench                                              the figures of docs/how-sure.md, and other short cases
    .venv/bin/python tools/bench.py --list                  all cases with their options
    .venv/bin/python tools/bench.py CASE [NAME=VALUE...]    one case
    .venv/bin/python tools/bench.py neural-art [FILE...]    one case with files

Cases work in temporary copies of the project, which contain only the files that it declares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import Parameter, getdoc, signature
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "site_scons"), str(ROOT / "tests"), str(ROOT)]

from benchmarks.measure import Rows, print_tables  # noqa: E402 - it is found now.

# Modules are imported with their case: programs that are measured begin with the memory of this process.
SHORT = {
    "pipeline": "benchmarks.builds",
    "stages": "benchmarks.builds",
    "null-builds": "benchmarks.builds",
    "front": "benchmarks.front",
    "embed": "benchmarks.embed",
    "caches": "benchmarks.caches",
    "kernels": "benchmarks.kernels",
    "trust": "benchmarks.firmware",
    "emulator": "benchmarks.emulator",
    "expected-times": "fit_timing",
}
CASES = {
    **SHORT,
    "scale": "benchmarks.scale",
    "remote": "benchmarks.remote",
    "remote-matrix": "benchmarks.remote",
    "neural-art": "benchmarks.neural_art",
    "inference": "benchmarks.inference",
    "mutated-boots": "benchmarks.firmware",
    "damages": "benchmarks.damages",
    "cuts": "benchmarks.firmware",
    "glitches": "benchmarks.firmware",
    "probe": "benchmarks.probe",
    "quantise": "benchmarks.quantise",
    "islands": "benchmarks.float_islands",
}


def main(arguments: Sequence[str]) -> int:
    """Print the figures of a case, or of all short ones, and return 0.

    Raises:
        SystemExit: There is no such case or option, or a program fails.
    """
    if arguments and arguments[0] in ("--list", "--help", "-h"):
        print(__doc__)
        for name in CASES:
            case = _case(name)
            options = (str(each).replace("'", "") for each in signature(case).parameters.values())
            print(f"{name:<15} {(getdoc(case) or '').splitlines()[0]}")
            print("".join(f"{'':<16}{each}\n" for each in options), end="")
    elif arguments:
        print_tables(_rows(arguments[0], arguments[1:]))
    else:
        for name in SHORT:
            print_tables(_rows(name, ()))
    return 0


def _case(name: str) -> Callable[..., Rows]:
    if name not in CASES:
        raise SystemExit(f"there is no case {name}: {', '.join(CASES)}")
    case: Callable[..., Rows] = getattr(import_module(CASES[name]), name.replace("-", "_"))
    return case


def _rows(name: str, words: Sequence[str]) -> Rows:
    """Call a case with words as its options, by the types of their defaults."""
    case = _case(name)
    known = signature(case).parameters
    options = dict(word.split("=", 1) for word in words if "=" in word)
    others = [word for word in words if "=" not in word]
    takes_words = any(each.kind == Parameter.VAR_POSITIONAL for each in known.values())
    if not options.keys() <= known.keys() or (others and not takes_words):
        raise SystemExit(f"{name} has these options: {', '.join(map(str, known.values()))}")
    return case(*others, **{key: type(known[key].default)(value) for key, value in options.items()})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
