"""Epochs of engines and the stream switch, with their wanted memory.

These epochs only move data. The wanted memory comes from oracles.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from virtual_board.npu.assembler import Contexts, Epoch, Frames
from virtual_board.npu.oracles import bytes_of, noise, stream_of

# Two runs of (frames, whether they are taken), or None if all are taken.
Choice = tuple[tuple[int, bool], tuple[int, bool]] | None


def copy(
    read: Frames, write: Frames, right_aligned: bool = False, signed: bool = False, raw_out: bool = False, seed: int = 0
) -> Epoch:
    """Return an epoch that copies elements.

    The frames of both engines may differ, except for the number of elements. Addresses in `read`
    and `write` start at 0.
    """
    epoch = Epoch()
    source = epoch.place(noise(seed, (int(read.addresses().max()) + 1,), "uint8"))
    read = replace(read, address=source)
    write = replace(write, address=epoch.room(int(write.addresses().max()) + 1))
    raw = epoch.memory_before()[read.addresses()].reshape(-1, len(read.lanes))
    stream = raw.ravel().astype(np.int64) if raw_out else stream_of(raw, read.lanes, right_aligned, signed)
    alignment = {"LSBMODE": int(right_aligned)}
    reader = epoch.reader(2, read, RAW_OUT=int(raw_out), SIGNEXT=int(signed), **alignment)
    epoch.writer(5, reader, write, **alignment)
    places = write.addresses().reshape(-1, len(write.lanes))
    assert len(places) == len(stream)
    epoch.wanted.append((places.ravel(), bytes_of(stream, write.lanes, right_aligned).ravel()))
    return epoch


def frames_through_switch(frames: int, size: int, contexts: Sequence[Choice]) -> Epoch:
    """Return an epoch with one source and a writer for each choice of frames.

    A choice of None takes all frames.
    """
    epoch = Epoch()
    data = noise(frames, (frames, size), "uint8")
    reader = epoch.reader(8, Frames(epoch.place(data), size, count=frames, step=size))
    for engine, choice in enumerate(contexts):
        port = Contexts(reader, *choice) if choice else None
        kept = data[port.taken(frames)] if port else data
        address = epoch.room(kept.size)
        epoch.writer(engine, port or reader, Frames(address, size, count=len(kept), step=size))
        epoch.want(address, kept)
    return epoch


def behind_a_writer(frames: int, size: int, seed: int = 0) -> Epoch:
    """Return an epoch in which a second engine reads the output of a first one.

    Its frame i is the first engine's frame i - 1. Other data precedes the first frame.
    """
    epoch = Epoch()
    before, data = noise(seed, (size,), "uint8"), noise(seed + 1, (frames, size), "uint8")
    buffer = epoch.place(np.concatenate([before, np.zeros(data.size, np.uint8)]))
    source = epoch.reader(1, Frames(epoch.place(data), size, count=frames, step=size))
    epoch.writer(6, source, Frames(buffer + size, size, count=frames, step=size))
    epoch.want(buffer + size, data)
    follower = epoch.reader(2, Frames(buffer, size, count=frames + 1, step=size), trigger=6)
    epoch.store(0, follower, np.concatenate([before, data.ravel()]), 1, frames=frames + 1)
    return epoch
