"""Activation buffers as C arrays, each in its own section, and which RAM the pictures go to (STM32H747 applications)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.network.artifacts.description import IoBuffer, PoolRange

ALIGNMENT = 32
# The one pool of a network that was compiled without descriptors of memory pools.
_HEAP_POOL = "heap_overlay_pool"
Ram = Literal["AXIRAM", "SDRAM"]


@dataclass(frozen=True)
class Pictures:
    """Which RAM holds the captured and the rescaled picture."""

    captured: Ram
    rescaled: Ram


def activation_pools(pools: Sequence[PoolRange]) -> list[PoolRange]:
    """The writable pools that are in use, smallest first."""
    return sorted(
        (pool for pool in pools if pool.rights == "ACC_WRITE" and pool.used_bytes), key=lambda pool: pool.used_bytes
    )


def buffer_name(pool: PoolRange) -> str:
    """Of the C array; its section is called the same, with a dot in front."""
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
    if names:
        lines.append(f"void *NN_Activation_Buffer[AI_ACTIVATION_BUFFERS_COUNT] = {{ {', '.join(names)} }};")
    return "".join(f"{line}\n" for line in lines)


def buffers_header(pools: Sequence[PoolRange], inputs: Sequence[IoBuffer]) -> str:
    """app_buffers.h: sizes in bytes, the buffers, and which of them holds the input."""
    used = activation_pools(pools)
    sizes = [f"#define AI_ACTIVATION_{number}_SIZE_BYTES ({pool.used_bytes})" for number, pool in enumerate(used, 1)]
    lines = [
        "/* Generated from the memory pools of the compiled network. */",
        "#ifndef APP_BUFFERS_H",
        "#define APP_BUFFERS_H",
        "",
        "#include <stdint.h>",
        "",
        f"#define AI_ACTIVATION_BUFFERS_COUNT ({len(used)})",
        *sizes,
        *input_macros(pools, inputs).splitlines(),
        "",
        *activation_block(pools).splitlines(),
        "",
        "#endif",
    ]
    return "".join(f"{line}\n" for line in lines)


def input_macros(pools: Sequence[PoolRange], inputs: Sequence[IoBuffer]) -> str:
    """Which of the activation buffers holds the first input; the first buffer if the input has no address."""
    index = next(
        (
            index
            for index, pool in enumerate(activation_pools(pools))
            for port in inputs[:1]
            if port.address is not None and pool.address <= port.address < pool.used_end
        ),
        0,
    )
    return (
        f"#define AI_NETWORK_INPUTS_IN_ACTIVATIONS_INDEX {index}\n"
        f"#define AI_NETWORK_INPUTS_IN_ACTIVATIONS_SIZE AI_ACTIVATION_{index + 1}_SIZE_BYTES\n"
    )


def place_pictures(
    pools: Sequence[PoolRange], axiram_bytes: int, *, captured_bytes: int, rescaled_bytes: int
) -> Pictures:
    """axiram_bytes: AXI RAM for activations and pictures together. A picture goes there if it fits into what is left, otherwise
    to the SDRAM."""
    left = axiram_bytes - sum(
        -(-pool.used_bytes // ALIGNMENT) * ALIGNMENT for pool in activation_pools(pools) if pool.name == _HEAP_POOL
    )
    captured: Ram = "AXIRAM" if captured_bytes <= left else "SDRAM"
    left -= captured_bytes if captured == "AXIRAM" else 0
    return Pictures(captured, "AXIRAM" if rescaled_bytes <= left else "SDRAM")


def picture_bytes(width: int, height: int, channels: int) -> int:
    """A grey picture has one byte per pixel; one in colour is RGB565 and has two."""
    return width * height * (1 if channels == 1 else 2)
