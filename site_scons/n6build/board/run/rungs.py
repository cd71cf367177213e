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
START = Rung("start", "nothing is known of the NPU yet: the programs did not get as far as that")
VERSIONS = Rung(
    "versions", "the units of this NPU are not those that blobs are written for: no other rung would mean anything"
)
RUNGS = (
    Rung(
        "copy",
        "64 bytes from one engine to another: if nothing came back, the epoch controller, its clocks or its way to memory (RIF, "
        "caches) are not as the virtual board has them; if other bytes did, how STRENG addresses memory",
    ),
    Rung(
        "offset", "a copy runs, so that the start and the addresses are right: what differs is ARITH, or a link to it"
    ),
    Rung("sum", "ARITH adds 128 to what one engine reads: what differs is ARITH with two inputs"),
    Rung(
        "mean",
        "sums run: what differs is POOL, or the link from it to ARITH",
    ),
    Rung("pool", "POOL and ARITH can be linked: what differs is POOL with windows, or frames that repeat"),
    Rung(
        "pad",
        "the first CONVACC, with one weight: what differs is how it takes kernels, or the frame that it puts around an image",
    ),
    Rung(
        "dense",
        "CONVACC runs, and so does the epoch before it that adds 128: what differs is deep mode, or the layout of its kernels",
    ),
    Rung("pointwise", "one pixel is right: what differs is how deep mode goes through an image"),
    Rung("depthwise", "deep mode is right: what differs is a kernel of 3x3, its padding, or its line buffer"),
    Rung(
        "chain",
        "one CONVACC is right: what differs are the sums that go from one to the next, or the frame that both take kernels from",
    ),
    Rung(
        "layers",
        "every kind of epoch is right by itself, and the output that is named is the first one that is not: what differs is a "
        "size that no rung has, or what the epochs before it leave behind",
    ),
    Rung(
        "logits",
        "the same layers are right where each keeps its result: what differs is memory that is used again, or an epoch that "
        "leaves its result in the unsigned form alone",
    ),
)
# A network that comes with n6build, with the operators of all rungs before it.
WHOLE = "keyword"
_LAST = Rung(
    WHOLE,
    "all that the NPU does is right: what differs is what the CPU makes of it at the end, or caches between the two",
)
NETWORKS = (*RUNGS, _LAST)
