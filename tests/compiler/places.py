"""Further places of the compiler that the tests use: the same files under other names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from compiler_cache import real_compiler

PREFIX = "arm-none-eabi-"


def copied_toolchain(place: Path) -> Path:
    """Make a copy of the compiler: headers as files of their own, programs and libraries as links.

    Returns:
        The folder of its programs.
    """
    driver = Path(os.path.realpath(real_compiler() or ""))
    prefix = driver.parents[1]
    own = _found(driver, "-print-file-name=include").parent
    target = _found(driver, "-print-prog-name=ld").parents[1]
    (place / "bin").mkdir(parents=True)
    for name in ("gcc", "ar"):
        shutil.copy2(driver.with_name(PREFIX + name).resolve(), place / "bin" / (PREFIX + name))
    for folder in {own, _found(driver, "-print-prog-name=cc1").parent}:
        _link_content(folder, place / folder.relative_to(prefix))
    _link_content(target, place / target.relative_to(prefix))
    for folder in (own / "include", own / "include-fixed", target / "include"):
        if folder.is_dir():
            (place / folder.relative_to(prefix)).unlink()
            shutil.copytree(folder, place / folder.relative_to(prefix), ignore=shutil.ignore_patterns("c++"))
    return place / "bin"


def _found(driver: Path, option: str) -> Path:
    told = subprocess.run([driver, option], capture_output=True, text=True, check=True).stdout.strip()
    return Path(os.path.abspath(told))  # noqa: PTH100 - the links in the prefix stay


def _link_content(folder: Path, to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    for each in folder.iterdir():
        (to / each.name).symlink_to(each.resolve())
