"""A layer's blob and weights, whole or with a damaged word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from n6build.base.errors import N6Error
from n6build.judge.npu.blobs import Blob, blob_of_words
from n6build.judge.npu.sums import Weights
from virtual_board.npu.assembler import Epoch


def weights_in(epoch: Epoch) -> Weights:
    """Return the memory of an epoch as weights."""
    return Weights({address: data.tobytes() for address, data in epoch.memory.items()}, {})


def read_or_refused(epoch: Epoch, place: int, value: int, read: Callable[[Blob, Weights], object]) -> None:
    """Read an epoch with another word in its blob.

    It may only be refused with N6-NPU-003.
    """
    whole = blob_of_words(epoch.blob(), "layer")
    words = list(whole.words)
    words[place % len(words)] = value
    try:
        read(replace(whole, words=tuple(words)), weights_in(epoch))
    except N6Error as error:
        assert error.id == "N6-NPU-003"
