"""Commands of steps, run without a shell in the project's folder.

A command is an argument list, and gets nothing on stdin. Its output appears when it has ended, as
text: compilers quote lines of sources, which may come from anywhere.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from n6build.base.console import show
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, write_atomically
from n6build.base.foreign_flags import hint_from
from n6build.base.paths import FIRMWARE, ROOT, project_path
from n6build.base.regular_file import content_of
from n6build.engine.step import Step

# All compilations have this file among their sources.
SPECS = FIRMWARE / "portable.specs"
# Folders of the compiler's own headers: the variable for each, and its name for the option -print-file-name. The C library's is
# at the first place in Debian's layout, at the second in that of Arm's releases.
_OWN_HEADERS = {
    "N6BUILD_GCC": "include",
    "N6BUILD_NEWLIB": "../../../arm-none-eabi/include",
    "N6BUILD_ARM_NEWLIB": "../../../../arm-none-eabi/include",
}
# The folder of an absolute path in a linker map, where a path begins a line or follows a space, and ends its line.
_FOLDER_IN_MAP = re.compile(rb"(?m)(?<!\S)/[^\s/].*/(?=[^/\n]+$)")


def command_of(step: Step) -> list[str]:
    """Return the step's command, with options that keep local paths out of objects.

    Only compilations get these options, so that equal sources give equal objects on every machine.
    The options themselves are the same everywhere: compiler caches, which compare commands, find
    the objects of other checkouts.
    """
    specs = project_path(SPECS)
    # Without -fno-working-directory the name of the folder would be in the preprocessed source, which some caches compare.
    return [*step.command, f"-specs={specs}", "-fno-working-directory"] if specs in step.sources else list(step.command)


def environment_of(step: Step, root: str) -> dict[str, str]:
    """Return variables of the step's command that are the same on every machine.

    Only compilations have any. ccache and sccache identify a compiler by its driver alone: they get
    the digest of all its parts, and that of `SPECS`, which ccache takes by its option for checking
    compilers.

    Args:
        step: Any step.
        root: Folder of n6build, as the command names it.
    """
    if project_path(SPECS) not in step.sources:
        return {}
    compiler = ",".join((*(tool.digest for tool in step.tools), digest_of(SPECS)))
    # ccache would otherwise compare the working directory, which is in none of the outputs.
    ccache = {"CCACHE_COMPILERCHECK": f"string:{compiler}", "CCACHE_NOHASHDIR": "1"}
    return {"N6BUILD_ROOT": root, **ccache, "SCCACHE_C_CUSTOM_CACHE_BUSTER": compiler}


def worker_command(step: Step) -> list[str]:
    """Return the step's command for another machine.

    A compilation finds out there which folders `SPECS` maps. A sandbox may set PWD itself, as
    bubblewrap does; a shell makes it the working directory's name in any case.
    """
    command = command_of(step)
    if project_path(SPECS) not in step.sources:
        return command
    asked = " ".join(f'{name}="$("$0" -print-file-name={file})"' for name, file in _OWN_HEADERS.items())
    return ["sh", "-c", f'export PWD N6BUILD_HERE="$PWD" {asked}; exec "$0" "$@"', *command]


def _local_places(compiler: str, path: str | None) -> dict[str, str]:
    here = os.getcwd()
    return {"PWD": here, "N6BUILD_HERE": here, **own_headers(compiler, path)}


@cache
def own_headers(compiler: str, path: str | None) -> dict[str, str]:
    """Return the folders of the compiler's own headers that `SPECS` maps.

    The keys are the variables of the folders. A folder that does not exist has the compiler's
    answer for it, a relative name.

    Raises:
        OSError: The compiler cannot be started.
    """
    environment = {} if path is None else {"PATH": path}
    found = {}
    for name, file in _OWN_HEADERS.items():
        option = f"-print-file-name={file}"
        done = subprocess.run([compiler, option], env=environment, capture_output=True, text=True, check=False)
        found[name] = done.stdout.strip() or file
    return found


def shown_command(step: Step) -> str:
    """Return the command as a line for a shell."""
    return shlex.join(step.command)


def make_map_portable(step: Step) -> None:
    """Replace the folders of the toolchain in the step's linker map, if there is one.

    The linker has no option for that.

    Raises:
        N6Error: N6-FILE-001 if the map cannot be written.
    """
    # The compiler has found all other files with an absolute path.
    given = tuple(os.fsencode(source) for source in step.sources if os.path.isabs(source))

    def portable(found: re.Match[bytes]) -> bytes:
        return found[0] if found.string.startswith(given, found.start()) else b"/toolchain/"

    for path in map(Path, step.outputs):
        if f"-Wl,-Map={path}" in step.command and path.is_file():
            write_atomically(path, _FOLDER_IN_MAP.sub(portable, content_of(path)))


def run_command(step: Step, environment: Mapping[str, str]) -> None:
    """Run the command of a step, and print its output.

    Raises:
        N6Error: N6-STEP-010 if it fails; N6-STEP-011 if it cannot be started; N6-FILE-001 for a map
            that cannot be written.
    """
    for output in step.outputs:
        Path(output).parent.mkdir(parents=True, exist_ok=True)
    command = command_of(step)
    try:
        variables = environment_of(step, str(ROOT))
        variables |= _local_places(command[0], environment.get("PATH")) if variables else {}
        result = subprocess.run(
            command,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        status = result.returncode
    except OSError as error:
        raise N6Error("N6-STEP-011", f"cannot be run: {error.strerror}", where=command[0]) from error
    output = result.stdout.decode("utf-8", "replace")
    show(output)
    if status:
        how = f"ended with status {status}" if status > 0 else f"was stopped by signal {-status}"
        where = step.sources[0] if step.stage == "compile" and step.sources else step.name
        raise N6Error(
            "N6-STEP-010",
            f"{Path(command[0]).name} {how}",
            where=where,
            hint=hint_from(output) or "read its output above",
        )
    make_map_portable(step)
