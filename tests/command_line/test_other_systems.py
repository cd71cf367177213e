"""n6build without the modules of a Unix, as on Windows.

All commands that need no build folder work.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from called import call

ROOT = Path(__file__).resolve().parents[2]
OF_A_UNIX = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "readline", "curses")
CODE = f"""
import sys
from unittest.mock import MagicMock
for name in {OF_A_UNIX!r}:
    sys.modules[name] = None
# pyserial would import them here; it has a module of its own for Windows.
for name in ("serial", "serial.tools", "serial.tools.list_ports"):
    sys.modules[name] = MagicMock()
from n6build.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def without_unix(code: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(ROOT / "site_scons"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return call(sys.executable, "-c", code, *words, cwd=folder, **environment)


@pytest.mark.parametrize("word", ["--help", "--version", "boards", "models", "doctor", "--print-completion=bash"])
def test_lists_and_help(word: str, tmp_path: Path) -> None:
    result = without_unix(CODE, *word.split("="), folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    modules = sorted(
        ".".join(path.relative_to(ROOT / "site_scons").with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "site_scons/n6build").rglob("*.py")
    )
    assert len(modules) > 250
    names = "\n".join(f"import {name}" for name in modules if name != "n6build.__main__")
    code = CODE.partition("from n6build")[0] + names
    result = without_unix(code, folder=tmp_path)
    assert result.returncode == 0, result.stderr
