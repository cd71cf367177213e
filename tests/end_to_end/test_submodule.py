"""n6build as a git submodule of a project, with one line in its SConstruct.

Errors about missing files are tested, too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import called
import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = 'env = Environment(tools=["default", "n6"], toolpath=["third_party/n6build/site_scons/site_tools"])\n'
REST = 'Default(env.N6Network(model="keyword", board="nucleo-n657").objects)\n'


def call(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return called.call(*command, cwd=cwd, HOME=str(cwd), **environment)


# In every run: test_host_project.py::test_a_script_in_a_subfolder_uses_the_tools.
@pytest.mark.slow
def test_one_line_for_a_submodule(tmp_path: Path) -> None:
    if call("git", "-C", ROOT, "rev-parse", "HEAD", cwd=tmp_path).returncode:
        pytest.skip("this is not a checkout of git")
    call("git", "init", "--quiet", cwd=tmp_path)
    add = ("git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", ROOT, "third_party/n6build")
    added = call(*add, cwd=tmp_path)
    assert added.returncode == 0, added.stderr
    (tmp_path / "SConstruct").write_text("DefaultEnvironment(tools=[])\n" + LINE + REST)
    scons = (sys.executable, "-m", "SCons", "-Q")
    first = call(*scons, cwd=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "libn6networks.a" in first.stdout
    assert "is up to date" in call(*scons, cwd=tmp_path).stdout
    # The submodule stays unchanged, and its library is the one that is used.
    assert call("git", "-C", "third_party/n6build", "status", "--short", cwd=tmp_path).stdout == ""
    (tmp_path / "SConstruct").write_text(LINE + "import n6build\nprint(n6build.__file__)\n")
    assert f"{tmp_path}/third_party/n6build/site_scons/n6build/" in call(*scons, cwd=tmp_path).stdout


def scons_after(before: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run SCons in a project that embeds this checkout.

    Args:
        before: Code that runs first in the same Python.
    """
    tools = ROOT / "site_scons/site_tools"
    (folder / "SConstruct").write_text(LINE.replace("third_party/n6build/site_scons/site_tools", str(tools)) + REST)
    code = f"import sys, SCons\n{before}\nfrom SCons.Script.Main import main\nsys.argv = ['scons', '-Q']\nmain()"
    return call(sys.executable, "-c", code, cwd=folder, PYTHONPATH=str(ROOT / "site_scons"))


WITHOUT = """
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("platformdirs", "yaml"):
            raise ModuleNotFoundError("No module named " + name, name=name)
sys.meta_path.insert(0, Hidden())
"""


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            "from n6build.base import requirements\nrequirements.OLDEST_PYTHON = (3, 99)",
            f"error N6-SETUP-002: Python {sys.version.split()[0]} is too old\n  hint: install Python 3.99 or newer\n",
        ),
        (WITHOUT, "error N6-SETUP-003: Python package 'platformdirs' is missing in "),
        (
            "SCons.__version__ = '4.4.0'",
            "error N6-SETUP-004: SCons 4.4.0 is too old\n  hint: install SCons 4.5.1 or newer\n",
        ),
    ],
)
def test_what_is_missing_is_said(before: str, expected: str, tmp_path: Path) -> None:
    result = scons_after(before, tmp_path)
    assert result.returncode == 2
    assert expected in result.stderr
    assert "Traceback" not in result.stderr


def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    code = f"import sys\n{WITHOUT}\nfrom n6build.__main__ import main\nsys.exit(main(['boards']))"
    result = call(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(ROOT / "site_scons"))
    assert result.returncode == 2
    assert result.stderr.startswith("error N6-SETUP-003: Python package 'platformdirs' is missing in ")
    assert f"-m pip install -r {ROOT / 'requirements/runtime.lock'}" in result.stderr
