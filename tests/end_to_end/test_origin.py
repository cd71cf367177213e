"""Files beside a flash manifest of real builds, and the tool that builds again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from called import call

from end_to_end.conftest import Project

ARGUMENTS = ("model=keyword", "probe=virtual", "image")
FILES = ("provenance.json", "sbom.cdx.json", "notices.txt")


def materials(folder: Path) -> dict[str, str]:
    definition = json.loads((folder / "provenance.json").read_text())["predicate"]["buildDefinition"]
    return {each["name"]: each["digest"]["sha256"] for each in definition["resolvedDependencies"]}


def test_every_material_is_there_and_a_change_of_any_is_noticed(project: Project) -> None:
    assert project.scons(*ARGUMENTS).status == 0
    folder = project.root / "build/nucleo-n657/keyword"
    before = materials(folder)
    for name in ("models/keyword/keyword.tflite", "firmware/fsbl/main.c", "firmware/bring_up/n6_reg.h"):
        assert f"<n6build>/{name}" in before
    assert "arm-none-eabi-gcc" in before
    assert not any("build/" in name or name.startswith(("/", "..")) for name in before)
    texts = {name: (folder / name).read_text() for name in FILES}
    for name, text in texts.items():
        assert str(project.root) not in text, name
    assert "newlib: libc_nano.a" in texts["notices.txt"]
    assert project.scons(*ARGUMENTS).actions == []
    # A comment in a header changes no image, but it changes the record of the image's sources.
    project.replace("firmware/bring_up/n6_reg.h", "\n", "\n/* another comment */\n")
    images = (folder / "flash_manifest.json").read_bytes()
    again = project.scons(*ARGUMENTS)
    assert (folder / "flash_manifest.json").read_bytes() == images
    assert "Origin" in again.output
    after = materials(folder)
    assert {name for name in after if after[name] != before.get(name)} == {"<n6build>/firmware/bring_up/n6_reg.h"}


@pytest.mark.slow
def test_images_are_built_again_from_their_provenance_and_from_nothing_else(project: Project) -> None:
    assert project.scons(*ARGUMENTS).status == 0
    folder = project.root / "build/nucleo-n657/keyword"

    def verify() -> subprocess.CompletedProcess[str]:
        tool = (sys.executable, "tools/verify_provenance.py", folder / "provenance.json")
        return call(*tool, cwd=project.root, **project.environment)

    first = verify()
    assert (first.returncode, "Verified provenance.json, 5 files" in first.stdout) == (0, True), first.stderr
    project.replace("firmware/appli/main.c", "rejects its", "Rejects its")
    other = verify()
    assert other.returncode == 1
    assert "Material source <n6build>/firmware/appli/main.c has SHA-256" in other.stdout
    assert "Image appli_image.bin is another one" in other.stdout
    assert "N6-ORIGIN-004: 2 of 5 files differ from a build on this computer" in other.stderr
    (folder / "appli_image.bin").write_bytes(b"")
    assert "N6-ORIGIN-002: appli_image.bin has SHA-256" in verify().stderr
