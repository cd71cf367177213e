"""The ll_aton in OpenMV's firmware: in a release, an image or a source tree.

A loader of ST compares only the first three numbers of a model's version. The first firmware with
1.1.3-262 therefore accepts models of 1.1.3-8, and then calls wrong functions in them. The version
decides for which ABI a model is compiled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file, is_folder, read_at_most
from n6build.base.span import Span
from n6build.compile.ll_aton import CORE_RELEASES, Version, read_ll_aton_version, version_text
from n6build.place.reloc.loader import Firmware as LoadingFirmware
from n6build.place.reloc.loader import Placement, Refusal, install
from n6build.place.reloc.model_format import abi_of, up
from n6build.place.reloc.reader import RelocFile

# Every release with relocatable models has its ll_aton version here.
VERSION_HEADER = Path("lib/stai/libstai/include/ll_aton_version.h")
_PREFIX = "openmv-"
# The first commits with another ll_aton, as `git describe` counts them from a release.
_SINCE: tuple[tuple[tuple[int, int, int, int], Version], ...] = (
    ((4, 7, 0, 19), (1, 1, 0, 31)),
    ((4, 8, 1, 1), (1, 1, 3, 8)),
    ((4, 8, 1, 546), (1, 1, 3, 262)),
)
NEWEST = (5, 0, 0)
_RELEASES = ("4.8.0", "4.8.1", "5.0.0")
_NAME = re.compile(r"v?(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:-(\d{1,6})(?:-g[0-9a-f]{4,40})?)?(?:-dirty)?", re.ASCII)
# The first line on the console contains the output of `git describe`.
_BANNER = re.compile(rb"OpenMV (v\d{1,3}\.\d{1,3}\.\d{1,3}[-.\w]{0,60}); MicroPython ")
_MAX_IMAGE = 128 << 20
# A loader accepts these addresses.
_EXEC_RAM, _EXT_RAM = 0x3400_0000, 0x9000_0000


@dataclass(frozen=True)
class Firmware:
    """A firmware that installs relocatable models.

    Attributes:
        title: name of the firmware for messages.
        ll_aton: version of its ll_aton.
    """

    title: str
    ll_aton: Version


DEFAULT = Firmware("OpenMV v5.0.0", (1, 1, 3, 262))


def read_firmware(value: str, folder: Path) -> Firmware:
    """Return the firmware that option `firmware` names.

    Args:
        value: `openmv-5.0.0`, `openmv-4.8.1-546` (546 commits later), or the path of an image (bin,
            elf) or of a source tree.
        folder: folder where a relative path starts.

    Raises:
        N6Error: N6-ROMFS-009 for an unknown release, and for a file or folder without a version.
    """
    if value.startswith(_PREFIX):
        return _of_release(value.removeprefix(_PREFIX), f"firmware={value}")
    path = folder / value
    if is_folder(path):
        found = firmware_of_tree(path)
        if found is None:
            raise _unknown(f"has no {VERSION_HEADER}: it is not a source tree of OpenMV 4.8 or newer", value)
        return found
    if not is_file(path):
        raise _unknown("is neither a release, a firmware image nor a source tree", value)
    return image_firmware(read_at_most(path, _MAX_IMAGE), path.name)


def firmware_of_tree(tree: Path) -> Firmware | None:
    """Return the firmware of a source tree; None if the tree has no ll_aton."""
    header = tree / VERSION_HEADER
    return Firmware(f"the OpenMV tree {tree.name}", read_ll_aton_version(header)) if is_file(header) else None


def refused_in_heap(model: RelocFile, heap: Span) -> str:
    """Return a loader's reason to refuse the model in the camera's heap, or ''.

    OpenMV's firmware reads a file into the first block of its heap that it fits into, which is RAM
    inside the chip. The NPU reads such RAM without its cache (openmv/openmv, issue 3272). A model
    in the read-only file system stays in flash.

    Args:
        model: the model.
        heap: the first block of the heap.
    """
    if model.file_bytes >= heap.size:
        return ""
    external = up(model.context["external_ram_bytes"])
    place = Placement(heap.address, _EXEC_RAM, model.xip_bytes, _EXT_RAM if external else 0, external, mode="xip")
    flags = model.flags
    try:
        install(model, LoadingFirmware(model.version, flags.secure, flags.debug_info, flags.asynchronous), place)
    except Refusal as refusal:
        return str(refusal)
    return ""


def image_firmware(data: bytes, file: str) -> Firmware:
    """Return the firmware of an image, from the first line that it prints.

    Raises:
        N6Error: N6-ROMFS-009 if the image has no such line, or several versions.
    """
    banners = sorted({match[1].decode("ascii") for match in _BANNER.finditer(data)})
    if len(banners) != 1:
        what = (
            "has no line 'OpenMV v...; MicroPython'" if not banners else f"has several versions: {', '.join(banners)}"
        )
        raise _unknown(f"{what}; a firmware image of OpenMV has this line once", file)
    return _of_release(banners[0], file)


def check_version(version: Version, firmware: Firmware, where: str) -> None:
    """Check that a model of this ll_aton belongs into the firmware.

    Versions of one ABI take each other's models, for example 1.1.3-262 and 1.1.3-275.

    Raises:
        N6Error: N6-ROMFS-010 if the model belongs into another firmware.
    """
    wanted = firmware.ll_aton
    if version[:3] == wanted[:3] and abi_of(version) is abi_of(wanted):
        return
    unnoticed = version[:3] == wanted[:3]
    outcome = (
        "its loader accepts the model, which then calls wrong functions"
        if unnoticed
        else "its loader returns -1 or faults"
    )
    what = f"is for ll_aton {version_text(version)}, but {firmware.title} has {version_text(wanted)}: {outcome}"
    releases = [name for each, name in CORE_RELEASES.items() if abi_of(each) is abi_of(wanted) and each >= (1, 1)]
    hint = (
        f"compile it with ST Edge AI Core {' or '.join(releases)} (STEDGEAI_CORE_DIR) or with n6build's runtime, or "
        f"select another firmware, for example firmware=openmv-4.8.1"
    )
    raise N6Error("N6-ROMFS-010", what, where=where, hint=hint)


def _of_release(name: str, where: str) -> Firmware:
    match = _NAME.fullmatch(name)
    if not match:
        raise _unknown(f"'{name}' is not a release of OpenMV", where)
    major, minor, micro, commits = (int(each or 0) for each in match.groups())
    found = None
    for since, version in _SINCE:
        found = version if (major, minor, micro, commits) >= since else found
    if found is None:
        raise _unknown(f"OpenMV {name} has no loader of relocatable models; 4.8.0 is the first release with one", where)
    if (major, minor, micro) > NEWEST:
        raise _unknown(f"OpenMV {name} is newer than 5.0.0, the newest release that this n6build supports", where)
    return Firmware(f"OpenMV v{name.removeprefix('v')}", found)


def _unknown(what: str, where: str) -> N6Error:
    hint = f"use firmware=openmv-<release> ({', '.join(_RELEASES)}), a firmware image, or the folder of its sources"
    return N6Error("N6-ROMFS-009", what, where=where, hint=hint)
