"""Rungs of target ladder, from the simplest use of the NPU to a whole network.

Each rung has a conclusion for the case that it is the first to fail.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rung:
    """A step of target ladder.

    Attributes:
        name: Name of its model in models/ladder.
        tells: Conclusion if this is the first rung that fails.
    """

    name: str
    tells: str


# Before the first network: the programs start, and the runtime compares the versions of the NPU's units.
START = Rung("start", "the programs ended before they reached the NPU")
VERSIONS = Rung("versions", "this NPU has other units than the blobs expect: the other rungs have no meaning")
RUNGS = (
    Rung(
        "copy",
        "it copies 64 bytes between two engines: with no output, check the epoch controller, its clocks and its "
        "access to memory (RIF, caches); with wrong bytes, check the addressing of STRENG",
    ),
    Rung("offset", "a copy runs, so the start and the addresses are right: check ARITH, or a link to it"),
    Rung("sum", "ARITH adds 128 to the data of one engine: check ARITH with two inputs"),
    Rung(
        "mean",
        "sums run: check POOL, or its link to ARITH",
    ),
    Rung("pool", "POOL and ARITH work together: check POOL with windows, or repeated frames"),
    Rung(
        "pad",
        "this is the first CONVACC, with one weight: check its input of kernels, or its padding of an image",
    ),
    Rung(
        "dense",
        "CONVACC runs, and the epoch before it that adds 128: check deep mode, or the layout of its kernels",
    ),
    Rung("pointwise", "one pixel is right: check the order of pixels in deep mode"),
    Rung("depthwise", "deep mode is right: check a kernel of 3x3, its padding, or its line buffer"),
    Rung(
        "chain",
        "one CONVACC is right: check the sums that go from one CONVACC to the next, or their common frame of kernels",
    ),
    Rung(
        "layers",
        "every kind of epoch is right by itself, and the named output is the first wrong one: check a size that no "
        "rung has, or data of the epochs before it",
    ),
    Rung(
        "logits",
        "the same layers are right with separate memory for each result: check reused memory, or an epoch whose "
        "result only exists in unsigned form",
    ),
)
# A network that comes with n6build, with the operators of all rungs before it.
WHOLE = "keyword"
_LAST = Rung(
    WHOLE,
    "all results of the NPU are right: check the CPU's work at the end, or caches between both",
)
NETWORKS = (*RUNGS, _LAST)
