"""Headers for a host's program, in one folder for another build system."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from n6build.base.files import files_in, read_text, remove_others, sha256, write_atomically
from n6build.base.paths import FIRMWARE, project_path
from n6build.engine.step import Call, Step

# Folders of firmware/ whose headers a program may include besides n6_network.h and the generated ones.
HEADER_FOLDERS = ("bring_up", "postprocess")
# All headers for another build system include it, and it changes with any of them. During a build, Ninja only sees changes of
# files that CMake has named, and the names of the other headers depend on the networks.
CHANGES = "n6_made.h"


def header_folder(headers: Sequence[str]) -> str:
    """Return the folder in which a program's headers of its networks are found.

    One network's headers are included as `n6_decoder.h`. Two networks have headers of the same name, so a program with
    several includes them as `NAME_app/n6_decoder.h`; the plain name is then no file, and cannot be the wrong one.

    Args:
        headers: Headers of one or several networks, in `network_app` or `NAME_app`.
    """
    folders = {str(Path(header).parent) for header in headers}
    return folders.pop() if len(folders) == 1 else str(Path(os.path.commonpath(folders)))


def host_headers_step(folder: str, generated: Sequence[str], made: Sequence[str]) -> Step:
    """Return the step that puts all headers for a host's program into one folder.

    A program then has the same headers as one of N6Appli, by the same names.

    Args:
        folder: The folder, for these headers only.
        generated: Generated headers of the board.
        made: Headers that model.yaml describes.
    """
    own = [project_path(file) for place in HEADER_FOLDERS for file in files_in(FIRMWARE / place, "*.h")]
    plain = (*own, *generated)
    names = [*(Path(file).name for file in plain), *(os.path.relpath(file, header_folder(made)) for file in made)]
    return Step(
        verb="Header",
        stage="header",
        outputs=tuple(f"{folder}/{name}" for name in (CHANGES, *names)),
        sources=(*plain, *made),
        function="n6build.steps.host_headers:make_host_headers",
    )


def make_host_headers(call: Call) -> None:
    """Copy the headers, and remove those of other networks."""
    changes, *headers = call.outputs
    texts = [read_text(source) for source in call.sources]
    for header, text in zip(headers, texts, strict=True):
        write_atomically(header, f'{text}#include "{CHANGES}"\n')
    write_atomically(changes, f"/* Changes with any header: {sha256(''.join(texts).encode())} */\n")
    # A program that includes a header of a network that it no longer has must not compile.
    for folder in (changes.parent, *changes.parent.iterdir()):
        remove_others(folder, {path.name for path in call.outputs if path.parent == folder})
