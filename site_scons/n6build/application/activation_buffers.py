"""Activation buffers as C arrays in sections of their own, and which RAM the pictures go to (STM32H747 applications)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.network.artifacts import PoolRange

ALIGNMENT = 32
# The one pool of a network that was compiled without descriptors of memory pools.
_HEAP_POOL = "heap_overlay_pool"
Ram = Literal["AXIRAM", "SDRAM"]


@dataclass(frozen=True)
class Pictures:
    """Where the captured and the rescaled picture lie."""

    captured: Ram
    rescaled: Ram


def activation_pools(pools: Sequence[PoolRange]) -> list[PoolRange]:
    """The writable pools that are in use, smallest first."""
    return sorted(
        (pool for pool in pools if pool.rights == "ACC_WRITE" and pool.used_bytes), key=lambda pool: pool.used_bytes
    )


def buffer_name(pool: PoolRange) -> str:
    return f"NN_Activation_Buffer_{'AXIRAM' if pool.name == _HEAP_POOL else pool.name}"


def activation_block(pools: Sequence[PoolRange]) -> str:
    """Declarations of the buffers and of the table of them. Sizes are rounded up to whole cache lines, and no further."""
    lines = []
    names = []
    for number, pool in enumerate(activation_pools(pools), 1):
        name = buffer_name(pool)
        names.append(name)
        size = f"AI_ACTIVATION_{number}_SIZE_BYTES"
        lines += [
            f'__attribute__((section(".{name}")))',
            f"__attribute__((aligned({ALIGNMENT})))",
            f"static uint8_t {name}[({size} + {ALIGNMENT - 1}) / {ALIGNMENT} * {ALIGNMENT}];",
            "",
        ]
    lines.append(f"ai_handle NN_Activation_Buffer[AI_ACTIVATION_BUFFERS_COUNT] = {{ {', '.join(names)} }};")
    return "".join(f"{line}\n" for line in lines)


def place_pictures(
    pools: Sequence[PoolRange], axiram_bytes: int, *, captured_bytes: int, rescaled_bytes: int
) -> Pictures:
    """axiram_bytes: of AXI RAM for activations and pictures together. A picture goes there where it fits in what is left."""
    left = axiram_bytes - sum(
        -(-pool.used_bytes // ALIGNMENT) * ALIGNMENT for pool in activation_pools(pools) if pool.name == _HEAP_POOL
    )
    captured: Ram = "AXIRAM" if captured_bytes <= left else "SDRAM"
    left -= captured_bytes if captured == "AXIRAM" else 0
    return Pictures(captured, "AXIRAM" if rescaled_bytes <= left else "SDRAM")


def picture_bytes(width: int, height: int, channels: int) -> int:
    """A grey picture has a byte a pixel, one in colour is RGB565: two."""
    return width * height * (1 if channels == 1 else 2)
