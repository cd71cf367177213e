"""Activation buffers as C arrays, and the RAM of pictures (STM32H747).

Each array has its own section. The text equals that of external_memory_mgt.py in ST's model zoo,
byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.compile.artifacts.c_info_pools import ActivationPool
from n6build.compile.artifacts.description import IoBuffer, PoolRange

ALIGNMENT = 32
# A network that was compiled without descriptors of memory pools has this one pool.
_HEAP_POOL = "heap_overlay_pool"
_AXIRAM = "AXIRAM"
Ram = Literal["AXIRAM", "SDRAM"]


@dataclass(frozen=True)
class Pictures:
    """The RAM of the captured and of the rescaled picture."""

    captured: Ram
    rescaled: Ram


def activation_block(pools: Sequence[ActivationPool], handle: str = "ai_handle ") -> str:
    """Return the declarations of the buffers and of their table.

    Args:
        pools: Pools, smallest first; the order numbers the sizes.
        handle: Type of an entry of the table, with the characters that separate it from a name.
    """
    lines = []
    for number, pool in enumerate(pools, 1):
        name, size = _buffer_name(pool), f"AI_ACTIVATION_{number}_SIZE_BYTES"
        lines += [
            f'__attribute__((section(".{name}")))',
            f"__attribute__ ((aligned ({ALIGNMENT})))",
            f"static uint8_t {name}[{size} + {ALIGNMENT} - ({size}%{ALIGNMENT})];",
        ]
    entries = "".join(f"{_buffer_name(pool)}, " for pool in pools)
    lines.append(f"{handle}NN_Activation_Buffer[AI_ACTIVATION_BUFFERS_COUNT] = {{ {entries}}};")
    return "".join(f"{line}\n" for line in lines)


def buffers_header(pools: Sequence[PoolRange], inputs: Sequence[IoBuffer]) -> str:
    """Return app_buffers.h: sizes in bytes, the buffers, the index of the input's one.

    Args:
        pools: Memory pools of a network for the NPU.
        inputs: Inputs of the network. The first one decides the index, which is 0 if it has no
            address.
    """
    used = sorted((each for each in pools if each.rights == "ACC_WRITE" and each.used_bytes), key=_used_bytes)
    buffers = [ActivationPool(each.name, each.used_bytes) for each in used]
    address = next((port.address for port in inputs[:1]), None)
    index = next((n for n, each in enumerate(used) if address and each.address <= address < each.used_end), 0)
    lines = [
        "/* Generated from the memory pools of the compiled network. */",
        "#ifndef APP_BUFFERS_H",
        "#define APP_BUFFERS_H",
        "",
        "#include <stdint.h>",
        "",
        f"#define AI_ACTIVATION_BUFFERS_COUNT ({len(buffers)})",
        *(f"#define AI_ACTIVATION_{number}_SIZE_BYTES ({each.used_bytes})" for number, each in enumerate(buffers, 1)),
        *input_macros(index).splitlines(),
        "",
        *(activation_block(buffers, "void *").splitlines() if buffers else ()),
        "",
        "#endif",
    ]
    return "".join(f"{line}\n" for line in lines)


def input_macros(index: int) -> str:
    """Return the two macros of the buffer that holds the first input.

    Args:
        index: Index of the buffer. ST's script always writes 0. The application cleans the D-cache
            of this buffer before it runs the network; with a wrong index the network would read a
            stale input.
    """
    return (
        f"#define AI_NETWORK_INPUTS_IN_ACTIVATIONS_INDEX {index}\n"
        f"#define AI_NETWORK_INPUTS_IN_ACTIVATIONS_SIZE AI_ACTIVATION_{index + 1}_SIZE_BYTES\n"
    )


def place_pictures(
    pools: Sequence[ActivationPool], axiram_bytes: int, *, captured_bytes: int, rescaled_bytes: int
) -> Pictures:
    """Choose the RAM of the captured picture, then of the rescaled one.

    A picture is placed in AXI RAM if it leaves at least a byte there, otherwise in SDRAM.

    Args:
        pools: Pools with activations.
        axiram_bytes: AXI RAM for activations and pictures together.
        captured_bytes: Size of the captured picture.
        rescaled_bytes: Size of the rescaled picture.
    """
    left = axiram_bytes - sum(pool.used_bytes for pool in pools if pool.name in (_HEAP_POOL, _AXIRAM))
    captured: Ram = "AXIRAM" if captured_bytes < left else "SDRAM"
    left -= captured_bytes if captured == "AXIRAM" else 0
    return Pictures(captured, "AXIRAM" if rescaled_bytes < left else "SDRAM")


def picture_bytes(width: int, height: int, channels: int) -> int:
    """Return the size of a picture: one byte a pixel in grey, two in colour (RGB565)."""
    return width * height * (1 if channels == 1 else 2)


def _buffer_name(pool: ActivationPool) -> str:
    """Return the name of the C array; its section has the same name behind a dot."""
    return f"NN_Activation_Buffer_{_AXIRAM if pool.name == _HEAP_POOL else pool.name}"


def _used_bytes(pool: PoolRange) -> int:
    return pool.used_bytes
