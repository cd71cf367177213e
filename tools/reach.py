"""Test files that a changed file can reach, through imports or by its name.

A test reaches a file that its text names. Programs that a test starts are not followed: any change
can reach end_to_end and proof, which start whole builds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.members import modules_matching
from n6build.engine.closure import imports_in

# Modules in these folders are imported without a package in front of their names.
PLACES = ("site_scons", "tests", "tools", "site_scons/site_tools")
# These tests start whole builds, each for seconds.
BUILDS = ("tests/end_to_end/", "tests/proof/")
# These tests read the whole tree by patterns.
HOUSE = "tests/house/"
_READS_TREE = re.compile(r"\brglob\(|\.glob\(")
_MEMBERS = re.compile(r'\bmembers\(\s*"([\w.]+\.\*[\w.]*)"')


@dataclass(frozen=True)
class Tree:
    """The Python files of a checkout.

    Attributes:
        root: Root of the checkout.
        texts: Texts by path from `root`.
        users: Module -> modules that import it.
    """

    root: Path
    texts: Mapping[str, str]
    users: Mapping[str, frozenset[str]]


def read_tree(root: Path) -> Tree:
    """Read all modules below `PLACES` of the checkout at `root`."""
    paths = {path for place in PLACES for path in (root / place).rglob("*.py")}
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in sorted(paths)}
    names = {name: path for path in texts for name in _names(path)}
    users: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        imported = imports_in(text.encode(), _names(path)[0].rpartition(".")[0])
        for pattern in _MEMBERS.findall(text):
            imported |= set(modules_matching(pattern, {"n6build": str(root / "site_scons/n6build")}))
        for name in imported:
            if name in names:
                users[names[name]].add(path)
        # Fixtures of a folder's conftest.py are for all tests below it.
        if path.endswith("/conftest.py"):
            folder = path.removesuffix("conftest.py")
            users[path] |= {each for each in texts if each.startswith(folder) and each != path}
    return Tree(root, texts, {path: frozenset(found) for path, found in users.items()})


def distances(tree: Tree, changed: Iterable[str]) -> dict[str, float]:
    """Return test files that the changed files reach -> number of imports in between.

    A test in the folder named like the package counts half a step less.
    """
    found: dict[str, float] = {}
    for path in changed:
        for test, distance in _from_file(tree, path).items():
            found[test] = min(distance, found.get(test, distance))
    return dict(sorted(found.items(), key=lambda each: (is_build(each[0]), each[1], each[0])))


def is_build(test: str) -> bool:
    """Return whether a test file starts whole builds."""
    return test.startswith(BUILDS)


def _from_file(tree: Tree, changed: str) -> dict[str, float]:
    steps: dict[str, float] = {changed: 0} if changed in tree.texts else {}
    for path, text in tree.texts.items():
        if path != changed and any(name in text for name in _spellings(changed)):
            steps.setdefault(path, 1)
    waiting = list(steps)
    while waiting:
        following = []
        for path in waiting:
            for user in tree.users.get(path, ()):
                if user not in steps:
                    steps[user] = steps[path] + 1
                    following.append(user)
        waiting = following
    tests = {path: steps[path] for path in steps if _is_test(path)}
    for path, text in tree.texts.items():
        if path.startswith(HOUSE) and _is_test(path) and _READS_TREE.search(text):
            tests[path] = min(2, tests.get(path, 2))
    package = Path(changed).parent.name
    return {path: distance - 0.5 * (Path(path).parent.name == package) for path, distance in tests.items()}


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_") and "/examples/" not in path


def _names(path: str) -> list[str]:
    """Return the dotted names of a file for imports, the most specific place first."""
    dotted = path.removesuffix(".py").removesuffix("/__init__")
    places = [place for place in PLACES if dotted.startswith(f"{place}/")]
    return [dotted.removeprefix(f"{place}/").replace("/", ".") for place in sorted(places, key=len, reverse=True)]


def _spellings(path: str) -> list[str]:
    """Return the forms in which a module names a file that it reads or starts."""
    name, folder = Path(path).name, Path(path).parent.name
    in_quotes = [f"/{name}", f'"{name}"']
    if path.startswith("site_scons/n6build/"):
        # Many packages have a make.py.
        return [f"/{folder}/{name}"] if name.endswith(".py") else in_quotes
    # Data may be in a folder that is read by a pattern, or that has its name: boards/nucleo-n657, models/miniresnet.
    is_data = not name.endswith(".py") and path.count("/") > 1
    return [*in_quotes, f"/{folder}/", f'/{folder}"', f'"{folder}"'] if is_data else in_quotes
