"""Verify that images come from the sources in their provenance.

    python tools/verify_provenance.py build/nucleo-n657/keyword/provenance.json
    python tools/verify_provenance.py provenance.json cmsis=../Cube_N6    # a path that was outside of the project
    python tools/verify_provenance.py provenance.json --rebuilt again/provenance.json    # built by a project of your own

It checks the images, builds them again, and compares. Start it in the project's folder, with the
sources that the images are said to come from. The second build goes into a temporary folder and
takes nothing from the first one. Exit status: 0 if all is the same, else 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import digest_of
from n6build.tell.provenance import OUTSIDE, Provenance, different, read_provenance


def main(words: Sequence[str] | None = None) -> int:
    """Verify a provenance, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("provenance", type=Path, help="provenance.json, in the folder with its images")
    parser.add_argument(
        "options", nargs="*", metavar="OPTION=VALUE", help="options with another value on this computer"
    )
    parser.add_argument("--rebuilt", type=Path, metavar="FILE", help="provenance.json of an existing second build")
    arguments = parser.parse_args(words)
    try:
        _verify(arguments.provenance, arguments.options, arguments.rebuilt)
    except N6Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _verify(file: Path, options: Sequence[str], rebuilt: Path | None) -> None:
    claimed = read_provenance(file)
    check_images(claimed, file.parent)
    if rebuilt is not None:
        check_equal(claimed, read_provenance(rebuilt))
    else:
        with tempfile.TemporaryDirectory() as folder:
            check_equal(claimed, read_provenance(_built_again(claimed, options, Path(folder) / "build")))
    say("Verified", file.name, f"{len(claimed.subjects)} files, {len(claimed.materials)} materials")


def check_images(claimed: Provenance, folder: Path) -> None:
    """Check the images in a folder against their provenance.

    Raises:
        N6Error: N6-ORIGIN-002 for a file in the folder that differs from the provenance.
    """
    for name, digest in claimed.subjects.items():
        found = digest_of(folder / name)
        if found != digest:
            what = f"has SHA-256 {found[:12]}, but its provenance has {digest[:12]}" if found else "is not there"
            raise N6Error(
                "N6-ORIGIN-002", f"{name} {what}", where=str(folder), hint="use image and provenance of the same build"
            )


def _built_again(claimed: Provenance, options: Sequence[str], build: Path) -> Path:
    """Return the provenance of a build with the same options.

    Args:
        claimed: Provenance of the images.
        options: Options with other values here.
        build: An empty folder.

    Raises:
        N6Error: N6-ORIGIN-003.
    """
    if claimed.facts.get("program"):
        what = "the images are from another project, with its own program"
        hint = "build it a second time there, and pass the result with --rebuilt FILE"
        raise N6Error("N6-ORIGIN-003", what, where=str(claimed.facts["program"]), hint=hint)
    given = {**claimed.options, **dict(word.partition("=")[::2] for word in options)}
    for name, value in given.items():
        if OUTSIDE in value:
            what = f"option {name} was a path outside of the project"
            raise N6Error("N6-ORIGIN-003", what, where=value, hint=f"pass its path on this computer: {name}=...")
    words = [f"{name}={value}" for name, value in given.items()]
    say("Build", "again", " ".join(words))
    command = [sys.executable, "-m", "n6build", "image", *words, "--build", str(build)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    found = sorted(build.glob("*/*/provenance.json"))
    if done.returncode or len(found) != 1:
        raise N6Error(
            "N6-ORIGIN-003", "the images cannot be built again here", hint="read the error above for the reason"
        )
    return found[0]


def check_equal(claimed: Provenance, rebuilt: Provenance) -> None:
    """Compare two provenances, and print the differences.

    Raises:
        N6Error: N6-ORIGIN-004 for other images, and for the same images from other materials or
            options.
    """
    names = sorted({*claimed.subjects, *rebuilt.subjects})
    images = [name for name in names if claimed.subjects.get(name) != rebuilt.subjects.get(name)]
    materials = different(claimed.materials, rebuilt.materials)
    for line in materials:
        say("Material", line)
    for name in images:
        say("Image", f"{name} is another one")
    differing = "1 material differs" if len(materials) == 1 else f"{len(materials)} materials differ"
    if images:
        what = f"{len(images)} of {len(names)} files differ from a build on this computer, {differing}"
        raise N6Error(
            "N6-ORIGIN-004", what, hint="check out the sources and install the tools that the provenance names"
        )
    if materials or (claimed.facts, claimed.builder) != (rebuilt.facts, rebuilt.builder):
        what = f"the images are the same, but their materials differ: {differing}"
        raise N6Error(
            "N6-ORIGIN-004", what, hint="use the sources and tools of the provenance: yours have another state"
        )


if __name__ == "__main__":
    sys.exit(main())
