"""Headers are found while the file that names them waits for others, whether or not it is written again in the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# first.txt is always written anew, always the same, and not before another thread has looked at program.c. program.c is made from
# it, and names a header; its object lists what SCons knows of it.
SCONSTRUCT = """
import threading
import n6build
from n6_nodes import file_node, header_scanner

env = Environment(tools=[], SCANNERS=[], CPPPATH=["."])
env.Decider("content")
looked_at = threading.Event()
first, program, made = (file_node(env, name) for name in ("first.txt", "program.c", "made.o"))

def write(target, source, env):
    if "object" in COMMAND_LINE_TARGETS:
        looked_at.wait(60)
    with open(str(target[0]), "w") as file:
        file.write("the same")

def generate(target, source, env):
    with open(str(target[0]), "w") as file:
        file.write('#include "known.h"')

def compile(target, source, env):
    with open(str(target[0]), "w") as file:
        file.write(" ".join(sorted(child.name for child in target[0].children())))

scanner = header_scanner()
scan = scanner.scan_check
def check(node, env):
    result = scan(node, env)
    looked_at.set()
    return result
scanner.scan_check = check

env.AlwaysBuild(env.Command(first, "source.txt", Action(write, "Write")))
env.Precious(env.Command(program, first, Action(generate, "Generate")))
env.Command(made, program, Action(compile, "Compile"), source_scanner=scanner)
env.Alias("object", made)
"""


def scons(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "site_scons")}
    command = [sys.executable, "-m", "SCons", "-Q", *arguments]
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_a_source_that_stays_as_it_was_is_scanned_while_what_it_is_made_from_is_written(tmp_path: Path) -> None:
    (tmp_path / "SConstruct").write_text(SCONSTRUCT)
    (tmp_path / "source.txt").write_text("")
    (tmp_path / "known.h").write_text("/* one */")
    scons(tmp_path, "made.o")
    assert (tmp_path / "made.o").read_text() == "known.h program.c"
    (tmp_path / "known.h").write_text("/* two */")
    output = scons(tmp_path, "-j2", "first.txt", "object")
    assert "Write" in output
    assert "Generate" not in output
    assert "Compile" in output
    assert (tmp_path / "made.o").read_text() == "known.h program.c"
    assert "Compile" not in scons(tmp_path, "-j2", "first.txt", "object")
