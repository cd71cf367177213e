"""Check that the tests run the code of the tree they are in.

An editable install always uses one tree: a copied tree with the other tree's `.venv` would test the
other tree.
"""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_FIND = "from importlib.util import find_spec; found = find_spec('n6build'); print(found.origin if found else '')"


def foreign_code(root: Path = ROOT) -> list[str]:
    """Describe each part of n6build that would come from outside this tree.

    An example is "import n6build: /other/site_scons/n6build".

    Args:
        root: The tree, with `site_scons` and perhaps `.venv` in it.
    """
    library = root.resolve() / "site_scons"
    modules = ["n6build", *sorted(path.stem for path in library.glob("*.py") if path.stem != "site_init")]
    found = {f"import {name}": _origin(name) for name in modules}
    command = root / ".venv" / "bin" / "n6build"
    if command.is_file():
        # The command has two lines: the front beside it, then the library that its Python finds.
        found["n6build's front in .venv"] = str(command.parent / "../../site_scons/n6build")
        found["n6build's Python in .venv"] = _origin_in(command.with_name("python"))
    return [
        f"{what}: {origin or 'not found'}"
        for what, origin in found.items()
        if not origin or not Path(origin).resolve().is_relative_to(library)
    ]


def advice(foreign: list[str], root: Path = ROOT) -> str:
    """Return the message about the result of `foreign_code`."""
    shown = "\n".join(f"    {each}" for each in foreign)
    return (
        f"the tests of {root} would test the code of another tree:\n{shown}\n"
        "  hint: run make setup here, which makes a .venv of this tree's own, then its .venv/bin/pytest"
    )


def _origin(module: str) -> str:
    found = find_spec(module)
    return (found.origin if found else None) or ""


def _origin_in(python: Path) -> str:
    """Return the place of n6build for another Python, run as by the command."""
    try:
        done = subprocess.run([python, "-P", "-c", _FIND], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
