"""The class of this computer's processor, by which float kernels are chosen.

Libraries add the same numbers in another order on another class, so that the last bits differ.
"""

from __future__ import annotations

import platform
from functools import cache

# A processor's entry in /proc/cpuinfo is shorter, and all are alike.
_ENTRY = 8192
_CPUINFO = "/proc/cpuinfo"
# Extensions with kernels of their own in ONNX Runtime, by the names that Linux gives them.
_X86 = "sse4_1 avx f16c fma avx2 avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16 avx_vnni amx_tile amx_int8"
_ARM = "asimd asimdhp asimddp i8mm bf16 sve sve2 sme"
_WITH_KERNELS = frozenset(f"{_X86} {_ARM}".split())


@cache
def processor_class() -> str:
    """Return the class of this processor, such as 'x86_64 avx avx2 f16c fma sse4_1'."""
    try:
        # Not an input of any file: the class itself is in the signature of the steps that depend on it.
        with open(_CPUINFO, "rb") as file:  # noqa: PTH123
            text = file.read(_ENTRY).decode("ascii", "replace")
    except OSError:
        return " ".join((platform.machine(), platform.processor())).strip()
    lines = (line.partition(":") for line in text.splitlines())
    words = next((found.split() for name, _, found in lines if name.strip() in ("flags", "Features")), [])
    return " ".join((platform.machine(), *sorted(_WITH_KERNELS.intersection(words))))
