"""The machine's files use each other in one direction."""

from __future__ import annotations

import graphlib
import re

import pytest
from n6build.base.paths import MACHINE_FILES

# Names of functions and variables that one file defines for others.
_SHARED = r"(?:n6virt|n6npu|npu)_\w+"
_FUNCTION = re.compile(rf"^(?!static)\w[\w *]*?\b({_SHARED})\([^;{{]*\)\s*\{{", re.MULTILINE)
_VARIABLE = re.compile(rf"^(?!static|extern|typedef)\w+ \*?({_SHARED});", re.MULTILINE)
_NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.DOTALL)


def uses(texts: dict[str, str]) -> dict[str, set[str]]:
    """Return the files that each file uses, by name."""
    code = {name: _NO_CODE.sub("", text) for name, text in texts.items()}
    owner = {
        found: name
        for name, text in code.items()
        for pattern in (_FUNCTION, _VARIABLE)
        for found in pattern.findall(text)
    }
    named = {name: {owner.get(word, name) for word in re.findall(_SHARED, text)} for name, text in code.items()}
    return {name: found - {name} for name, found in named.items()}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {path.name: path.read_text() for path in MACHINE_FILES.glob("*.c")}


def test_no_files_use_each_other_in_a_circle(texts: dict[str, str]) -> None:
    graphlib.TopologicalSorter(uses(texts)).prepare()


def test_the_bus_knows_no_module(texts: dict[str, str]) -> None:
    of_bus = uses(texts)["n6virt_bus.c"]
    assert of_bus == {"n6virt_findings.c", "n6virt_processor.c"}
    assert not any("N6VIRT_MODULE(" in texts[name] for name in of_bus)


def test_a_circle_is_found() -> None:
    texts = {
        "a.c": "void n6virt_a(void)\n{\n    n6virt_b();\n}\n",
        "b.c": "int n6virt_b(void)\n{\n    n6virt_a();\n}\n",
    }
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(uses(texts)).prepare()
