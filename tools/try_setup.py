"""Try the README's first steps in a minimal Debian, up to the virtual board's run.

    python3 tools/try_setup.py 12
    python3 tools/try_setup.py 13 --folder /var/tmp/trixie     keeps the system there, or continues with the one there

The Debian is fresh and in a folder. Needs root, debootstrap, the network and 4 GB. The new system
gets its packages from the source of this computer's apt, and this computer's DNS servers,
certificates and settings of pip, without which it might reach no network; nothing else of it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELEASES = {"12": "bookworm", "13": "trixie"}
# BEFORE installs the packages of a newcomer's system; STEPS are those of the README.
BEFORE = "apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends ca-certificates make python3"
STEPS = ("make flash BOARD=nucleo-n657 MODEL=miniresnet",)
EXPECTED = "10 of 10 outputs equal the reference interpreter bit for bit"
_NETWORK = ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf")


def main() -> int:
    """Try the steps; return 0, or 1 after an error, which is printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", choices=RELEASES, help="of Debian")
    parser.add_argument("--folder", type=Path, help="keeps the system instead of removing it")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        print(
            "error: this needs root and debootstrap\n  hint: run as root: apt-get install debootstrap", file=sys.stderr
        )
        return 1
    if arguments.folder:
        return _try(RELEASES[arguments.release], arguments.folder)
    with tempfile.TemporaryDirectory() as folder:
        return _try(RELEASES[arguments.release], Path(folder) / "system")


def mirror(listing: str) -> str:
    """Return the source of Debian's packages for this computer's apt.

    Args:
        listing: Output of `apt-get indextargets`, a line for each list with its site, origin and
            component.

    Raises:
        SystemExit: There is none.
    """
    for line in listing.splitlines():
        site, origin, component = line.split("|")
        if (origin, component) == ("Debian", "main") and not site.rstrip("/").endswith("-security"):
            return site
    raise SystemExit("error: apt on this computer has no package lists of Debian\n  hint: as root: apt-get update")


def files_of_checkout(listing: bytes) -> list[str]:
    """Return the paths of the files in the checkout.

    Args:
        listing: Output of `git ls-files -z`.
    """
    return [name for name in listing.decode().split("\0") if name and (ROOT / name).is_file()]


def _try(codename: str, system: Path) -> int:
    if not (system / "etc/debian_version").is_file():
        _say("System", f"Debian {codename}, minimal")
        targets = ["apt-get", "indextargets", "--format", "$(SITE)|$(ORIGIN)|$(COMPONENT)", "Created-By: Packages"]
        site = mirror(subprocess.run(targets, check=True, capture_output=True, text=True).stdout)
        subprocess.run(["debootstrap", "--variant=minbase", codename, str(system), site], check=True)
    project = system / "root" / "n6build"
    if project.is_dir():
        shutil.rmtree(project)
    listing = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    )
    for name in files_of_checkout(listing.stdout):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, project / name)
    return _carried_out(system)


def _lend_network(system: Path) -> None:
    for name in _NETWORK:
        if Path(name).is_file():
            (system / name[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, system / name[1:])


def _carried_out(system: Path) -> int:
    output = ""
    mounted = subprocess.run(["mount", "-t", "proc", "proc", str(system / "proc")], check=False).returncode == 0
    try:
        for step in (BEFORE, *STEPS):
            _say("Step", step)
            # This is repeated, since installing certificates would remove those that only this computer trusts.
            _lend_network(system)
            output = _in_system(system, step)
    finally:
        if mounted:
            subprocess.run(["umount", str(system / "proc")], check=False)
    if EXPECTED not in re.sub(r"\x1b\[[\d;]*m", "", output):
        print("error: the run did not end with the expected result", file=sys.stderr)
        return 1
    _say("Ready", "the virtual board computes the same as the reference interpreter")
    return 0


def _in_system(system: Path, step: str) -> str:
    """Return the output of a step, which is shown as it comes.

    Raises:
        SystemExit: The step fails.
    """
    clean = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
    }
    command = ["chroot", str(system), "/bin/sh", "-c", f"cd /root/n6build && {step}"]
    lines = []
    with subprocess.Popen(
        command, env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        raise SystemExit(f"error: '{step}' ends with status {process.returncode}")
    return "".join(lines)


def _say(verb: str, what: str) -> None:
    print(f"{verb:>11} {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
