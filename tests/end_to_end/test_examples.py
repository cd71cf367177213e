"""Host projects that adopt n6build in a few lines.

Each has its own build system, start-up and drivers.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from end_to_end.hosts import ROOT, Host, steps_in

MARKED = re.compile(r"^# n6build\n(.*?)^# n6build: end\n", re.DOTALL | re.MULTILINE)
SAID = "Console host: keyword says 1 of 12"


@pytest.mark.parametrize(
    "files", [["make/Makefile"], ["cmake/CMakeLists.txt"], ["scons/SConstruct", "scons/app/SConscript"]]
)
def test_an_example_adopts_n6build_in_at_most_five_lines(files: list[str]) -> None:
    lines = []
    for file in files:
        text = (ROOT / "examples" / file).read_text()
        lines += [line for part in MARKED.findall(text) for line in part.splitlines()]
        around = [line for line in MARKED.sub("", text).splitlines() if not line.startswith("#")]
        assert not re.search(r"n6|N6", "\n".join(around))
    assert 0 < len(lines) <= 5


@pytest.mark.slow
def test_a_project_of_make(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    host.replace("Makefile", "model=keyword", "model=own_model")
    built = host.call("make", "-j2", "all", "n6-build")
    assert built.count("Place build/n6build") == 1
    assert steps_in(host.call("make", "all", "n6-build")) == []
    ran = host.call("make", "n6-run", "N6_BOARD_OPTIONS=probe=virtual until=text:'host: done'")
    assert SAID in ran
    # A changed source of the host is linked and placed, and nothing else is compiled.
    host.replace("src/main.c", "host: hello", "host: HELLO")
    again = host.call("make", "all", "n6-build")
    steps = ["Bill", "Check", "Manifest", "Origin", "Place"]
    assert sorted(re.findall(r"^ +(\w+) build", again, re.MULTILINE)) == steps
    assert steps_in(host.call("make", "all", "n6-build")) == []
    # A header disappears, and the model is another one.
    (host.root / "own_model/model.yaml").write_text(
        (host.root / "own_model/model.yaml").read_text().replace("name: keyword", "name: spotting")
    )
    assert "spotting" in host.call("make", "all", "n6-build")
    host.call("make", "clean")
    assert not (host.root / "build").exists()
