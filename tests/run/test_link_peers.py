"""The link with any program at its other end.

A session ends within its time, with an error id or with results. Time only passes while a side
waits.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest
from cobs import cobs
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.run.link import Link
from n6build.board.run.linked_session import LinkedNetwork, run_over_link
from n6build.board.run.session import RunModel
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.formats.link import VERSION
from n6build.place.memory_plan.vectors import VectorSet

from run.test_table import ARTIFACTS

INPUT_BYTES, OUTPUT_BYTES = 450, 260
PATIENCE_S, ANSWER_S, RUN_S = 5.0, 0.5, 2.0
# A session takes at most a minute for each second of patience, and restarts several times; its requests take more time.
LONGEST_S = 3 * (61 * PATIENCE_S + 60)
NETWORK = LinkedNetwork(
    RunModel("keyword", Path("inputs.npy"), None, (), ()),
    replace(
        ARTIFACTS,
        inputs=(IoBuffer("in", 0x34200000, INPUT_BYTES, "int8", (1, INPUT_BYTES), 1.0, 0),),
        outputs=(IoBuffer("out", 0x34200000, OUTPUT_BYTES, "int8", (1, OUTPUT_BYTES), 1.0, 0),),
    ),
    VectorSet("inputs.npy", 1, INPUT_BYTES, bytes(INPUT_BYTES)),
    None,
    (),
    1,
)
SOUND = {
    1: struct.pack("<HHI", VERSION, 1, 64_000_000),
    2: struct.pack("<III", INPUT_BYTES, OUTPUT_BYTES, 4) + b"keyword",
    3: b"",
    4: struct.pack("<I", 1000),
    5: bytes(200),
    6: bytes(48),
}
TEXTS = [
    b"\n",
    b"n6 model x\n",
    b"noise\n",
    b"n6 appli start clock=" + b"9" * 5000 + b"\n",
    b"n6 run 0 cycles=" + b"1" * 4400 + b"\n",
]
TEXTS += [b"\x1b[31mhello\n", b"\xff\n" * 3, b"\0\0", b"n6 appli error N6-FW-001 x\n", b"n6 fault 1\n", b"x" * 9000]


@dataclass
class Peer:
    """A program at the other end.

    Attributes:
        seldom: One of this many requests gets an odd answer.
        talks: True if it sends text in pauses.
    """

    random: Random
    seldom: int
    talks: bool
    time_s: float = 0.0
    to_host: bytearray = field(default_factory=bytearray)

    @property
    def in_waiting(self) -> int:
        return len(self.to_host)

    def read(self, size: int = 1) -> bytes:
        if not self.to_host:
            self.time_s += 0.05
            if self.talks and self.random.random() < 0.5:
                self.to_host += self.random.choice(TEXTS)
        # Received bytes take their time on the line.
        data = bytes(self.to_host[:size])
        del self.to_host[:size]
        self.time_s += len(data) / 11_520
        return data

    def write(self, data: bytes) -> int:
        message = cobs.decode(data.strip(b"\0"))
        kind, sequence = message[0], message[1]
        odd = self.random.randrange(self.seldom) == 0
        answer = self.odd(kind) if odd else SOUND[kind][: message[7] if kind == 5 else None]
        if answer is not None:
            status = self.random.choice((0, 0, 0, 1, 2, 77)) if odd else 0
            reply = bytes([kind | 0x80, sequence, status]) + answer
            self.to_host += b"\0" + cobs.encode(reply + struct.pack("<I", zlib.crc32(reply))) + b"\0"
        return len(data)

    def odd(self, kind: int) -> bytes | None:
        sound = SOUND[kind]
        huge = struct.pack("<III", INPUT_BYTES, OUTPUT_BYTES, 0xFFFFFFFF) + b"keyword"
        choices = (
            None,
            b"",
            sound[:3],
            sound + sound,
            self.random.randbytes(self.random.randrange(60)),
            bytes(8),
            huge,
        )
        return self.random.choice(choices)


def session(peer: Peer) -> None:
    link = Link(peer, answer_s=ANSWER_S, run_s=RUN_S, now=lambda: peer.time_s)
    run_over_link(link, [NETWORK], PATIENCE_S)


def test_a_sound_peer_is_understood() -> None:
    session(Peer(Random(0), 1 << 40, talks=False))


def test_guards_come_behind_inputs_and_outputs_and_a_board_that_changes_them_is_stopped() -> None:
    guard = IoBuffer("out_guard_behind", 0x34200104, 60, "int8", (1, 60), 1.0, 0)
    inputs, outputs = (
        (replace(port, bytes=port.bytes - guard.bytes),)
        for (port,) in (NETWORK.artifacts.inputs, NETWORK.artifacts.outputs)
    )
    rows = VectorSet("inputs.npy", 1, inputs[0].bytes, bytes(inputs[0].bytes))
    network = replace(
        NETWORK, artifacts=replace(NETWORK.artifacts, inputs=inputs, outputs=outputs), inputs=rows, guards=(guard,)
    )
    peer = Peer(Random(0), 1 << 40, talks=False)
    with pytest.raises(N6Error, match="N6-LADDER-004.*guard behind buffer out was written: byte 0 at 0x34200104"):
        run_over_link(Link(peer, now=lambda: peer.time_s), [network], PATIENCE_S)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([1, 2, 5, 20]), st.booleans())
def test_a_session_ends_in_time_with_an_id_or_with_results(random: Random, seldom: int, talks: bool) -> None:
    peer = Peer(random, seldom, talks)
    try:
        session(peer)
    except N6Error as error:
        assert error.id
    assert peer.time_s < LONGEST_S


class Talker(Peer):
    """A program that sends one text for ever and answers nothing."""

    said = b""

    def read(self, size: int = 1) -> bytes:
        self.time_s += 0.05
        self.to_host += self.said
        return super().read(size)

    def write(self, data: bytes) -> int:
        return len(data)


@pytest.mark.parametrize(
    ("said", "id"),
    [
        (b"", "N6-LINK-001"),
        (b"\n", "N6-LINK-001"),
        (b"noise\n", "N6-LINK-008"),
        (b"\xff\xfe\n", "N6-LINK-001"),
        (b"\0", "N6-LINK-001"),
        (b"x" * 5000 + b"\n", "N6-LINK-008"),
        (b"n6 model keyword\n", "N6-LINK-001"),
        (b"n6 appli start\n", "N6-LINK-005"),
    ],
)
def test_whoever_says_the_same_for_ever_is_not_listened_to_for_ever(said: bytes, id: str) -> None:
    peer = Talker(Random(0), 1, talks=False)
    peer.said = said
    with pytest.raises(N6Error, match=f"error {id}: "):
        session(peer)
    assert peer.time_s < LONGEST_S


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (1, b""),
        (1, b"\2\0\1"),
        (1, struct.pack("<HHI", VERSION, 1, 0)),
        (2, b"\1"),
        (4, b""),
        (5, b""),
        (5, bytes(199)),
        (6, bytes(13)),
    ],
)
def test_an_answer_that_is_none_is_refused_at_once(kind: int, answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOUND, kind, answer)
    peer = Peer(Random(0), 1 << 40, talks=False)
    with pytest.raises(N6Error, match="error N6-LINK-010: "):
        session(peer)
    assert peer.time_s < 5


def test_more_epochs_than_the_network_has_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOUND, 2, struct.pack("<III", INPUT_BYTES, OUTPUT_BYTES, 0xFFFFFFFF) + b"keyword")
    peer = Peer(Random(0), 1 << 40, talks=False)
    session(peer)
    assert peer.time_s < 5
