"""What operators keep from one inference to the next: variable tensors."""

from __future__ import annotations

from n6build.network.reference.graph import Tensor


def start_of(tensor: Tensor) -> int:
    """Of a variable tensor: what the reference interpreter fills it with, byte by byte, as 0 to 255. An int8 tensor gets its zero
    point."""
    return tensor.quantisation.zero_point % 256 if tensor.dtype == "int8" and tensor.quantisation else 0
