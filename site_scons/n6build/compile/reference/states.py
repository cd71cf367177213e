"""Variable tensors, which operators keep from one inference to the next."""

from __future__ import annotations

from n6build.compile.reference.graph import Tensor


def start_of(tensor: Tensor) -> int:
    """Return the byte with which the reference interpreter fills a variable tensor.

    It is 0 to 255. An int8 tensor gets its zero point.
    """
    return tensor.quantisation.zero_point % 256 if tensor.dtype == "int8" and tensor.quantisation else 0
