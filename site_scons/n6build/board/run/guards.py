"""Guards around buffers, filled and checked by target ladder over the link.

A guard is memory that no epoch may write. On the link, guards follow the inputs and the outputs of
the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.compile.neural_art.placement import BEFORE, BEHIND

# The step is odd, so that the pattern goes through all 256 bytes before it repeats.
_STEP = 0x5D
_START = 0xA6


def is_guard(port: IoBuffer) -> bool:
    """Return true if the buffer is a guard, not an input or output of the model."""
    return port.name.endswith((BEFORE, BEHIND))


def without_guards(artifacts: NetworkArtifacts) -> tuple[NetworkArtifacts, tuple[IoBuffer, ...]]:
    """Return the network without guards, and the guards."""
    inputs, outputs = (
        tuple(port for port in ports if not is_guard(port)) for ports in (artifacts.inputs, artifacts.outputs)
    )
    guards = tuple(port for port in artifacts.outputs if is_guard(port))
    return replace(artifacts, inputs=inputs, outputs=outputs), guards


def pattern(guards: Sequence[IoBuffer], inference: int) -> bytes:
    """Return the content of all guards, one after another.

    Every second inference has the inverted pattern, so that a value which is written again and again
    cannot hide.
    """
    turned = 0xFF if inference % 2 else 0
    return bytes((_START + _STEP * place & 0xFF) ^ turned for place in range(sum(guard.bytes for guard in guards)))


def require_untouched(guards: Sequence[IoBuffer], inference: int, found: bytes, model: str) -> None:
    """Check that no guard has changed.

    Args:
        guards: The guards, in their order.
        inference: Number of the inference.
        found: Content of the guards after the inference.
        model: Name of the model, for the error.

    Raises:
        N6Error: N6-LADDER-004 with the first byte that has changed.
    """
    wanted = pattern(guards, inference)
    changed = [place for place, pair in enumerate(zip(wanted, found, strict=True)) if pair[0] != pair[1]]
    if not changed:
        return
    first, start = changed[0], 0
    for guard in guards:
        if first < start + guard.bytes:
            raise _damaged(
                guard, first - start, found[first], wanted[first], len(changed), f"model {model}, vector {inference}"
            )
        start += guard.bytes


def _damaged(guard: IoBuffer, offset: int, found: int, wanted: int, changed: int, where: str) -> N6Error:
    buffer, side = (
        (guard.name.removesuffix(BEHIND), "behind")
        if guard.name.endswith(BEHIND)
        else (guard.name.removesuffix(BEFORE), "before")
    )
    address = f" at 0x{guard.address + offset:08X}" if guard.address is not None else ""
    distance = f"byte {offset}" if side == "behind" else f"byte -{guard.bytes - offset}"
    what = (
        f"the guard {side} buffer {buffer} was written: {distance}{address} is 0x{found:02X} and not 0x{wanted:02X}; "
        f"{changed} bytes of all guards have changed"
    )
    hint = (
        "do not run blobs of this backend on this board: an engine of the NPU writes outside of its buffer, so "
        "addresses or steps of frames differ from the virtual board"
    )
    return N6Error("N6-LADDER-004", what, where=where, hint=hint)
