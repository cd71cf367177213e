"""The envelope: features seen of ST's compiler, and the grade of an epoch by them.

The envelope limits blobs that have not run on silicon. It is a database of kinds and sizes
(`features`) and of the bits of registers, only facts, made from compiled networks that a user names
(tools/npu_envelope.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Annotated

from n6build.base.errors import N6Error
from n6build.base.yaml_schema import Range, read_document
from n6build.judge.npu.names import Names
from n6build.judge.npu.settings import EpochSettings
from n6build.judge.own_blobs.features import Feature, control_words, features_of

# These registers decide how a unit works and not how much it does, and kinds do not contain them. Their whole value must have
# been seen.
WHOLE = frozenset({("STRENG", "EVENT"), ("STRENG", "POS"), ("ARITH", "INSHIFTER")})
# In these registers no bit may be set that was never seen set.
BITWISE = frozenset(
    {
        ("STRENG", "CTRL"),
        ("STRENG", "LIMITEN"),
        ("STRENG", "STOPTAG"),
        ("STRENG", "ENCR_MSB"),
        ("STRENG", "CID_CACHE"),
        ("STRENG", "EXTSYNC"),
        ("CONVACC", "CTRL"),
        ("CONVACC", "ITER"),
        ("ARITH", "CTRL"),
        ("ARITH", "CLIPRANGE"),
        ("ARITH", "TRANSLATEADDR"),
    }
)
# Only these sizes are reported if they are below the smallest one seen; for other sizes a smaller value is no other case.
_MAY_BE_SMALL = frozenset({"width", "height", "group", "kernels"})
_WORD = 0xFFFF_FFFF
Word = Annotated[int, Range(0, _WORD)]
Count = Annotated[int, Range(0, _WORD)]


class Grade(IntEnum):
    """The grade of an epoch: the worst of its findings.

    It is CONFIRMED, whatever the findings, if a board has run an epoch of its form.
    """

    CONFIRMED = -1
    SEEN = 0
    SMALLER = 1
    LARGER = 2
    UNSEEN = 3

    @property
    def word(self) -> str:
        """The grade for messages and for model.yaml."""
        return "confirmed on silicon" if self is Grade.CONFIRMED else self.name.lower()


@dataclass(frozen=True)
class SeenKind:
    """A kind of unit or link that was seen.

    Attributes:
        unit: as in `Feature`.
        kind: as in `Feature`.
        count: number of times that it was seen.
        sizes: smallest and largest value of each size.
    """

    unit: str
    kind: str
    count: Count
    sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SeenBits:
    """The values that were seen of a register.

    Attributes:
        set: bits that were set at least once.
        words: whole values, for registers in which they count.
    """

    unit: str
    register: str
    set: Word
    words: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Envelope:
    """The features seen of ST's compiler.

    Attributes:
        networks: names of the networks that the envelope was made from.
        epochs: number of epochs.
        epochs_with_bits: number of epochs in blobs, whose registers are all known.
    """

    networks: tuple[str, ...]
    epochs: Count
    epochs_with_bits: Count
    kinds: tuple[SeenKind, ...]
    bits: tuple[SeenBits, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A feature of an epoch that was not seen as it is. what: text for messages."""

    grade: Grade
    what: str


def read_envelope(path: Path) -> Envelope:
    """Read the envelope.

    Raises:
        N6Error: N6-YAML-00x; N6-NPU-014 for a database that contradicts itself.
    """
    document = read_document(path, shown_as=path.name)
    envelope = document.load(Envelope)
    known: set[tuple[str, str]] = set()
    for place, each in enumerate(envelope.kinds):
        where = document.where("kinds", place)
        if (each.unit, each.kind) in known:
            raise _damaged(where, f"has {each.unit} '{each.kind}' twice")
        known.add((each.unit, each.kind))
        for name, limits in each.sizes.items():
            if len(limits) != 2 or limits[0] > limits[1]:
                raise _damaged(where, f"has {name} {list(limits)} of {each.unit}, not the smallest and the largest")
    if not envelope.kinds:
        raise _damaged(document.where(), "has no kinds, so it would allow nothing")
    registers: set[tuple[str, str]] = set()
    for place, bits in enumerate(envelope.bits):
        if (bits.unit, bits.register) in registers:
            raise _damaged(document.where("bits", place), f"has the bits of {bits.unit} {bits.register} twice")
        registers.add((bits.unit, bits.register))
    if envelope.epochs_with_bits and not envelope.bits:
        raise _damaged(document.where(), f"has no bits, but counts {envelope.epochs_with_bits} epochs with them")
    return envelope


def _damaged(where: str, what: str) -> N6Error:
    hint = "write it again with tools/npu_envelope.py"
    return N6Error("N6-NPU-014", f"the database of seen features {what}", where=where, hint=hint)


def judged(epoch: EpochSettings, names: Names, envelope: Envelope) -> list[Finding]:
    """Return each feature of an epoch that was not seen, once."""
    kinds = {(each.unit, each.kind): each for each in envelope.kinds}
    found = [finding for feature in features_of(epoch, names) for finding in _of_feature(feature, kinds)]
    bits = {(each.unit, each.register): each for each in envelope.bits}
    for unit, register, word in control_words(epoch, names):
        # A database without the register has seen no bit of it, so that a damaged database allows less, not more.
        found += _of_word(word, bits.get((unit, register), SeenBits(unit, register, 0)))
    return list(dict.fromkeys(found))


def form_of(epoch: EpochSettings, names: Names) -> str:
    """Return the form of an epoch: a digest of everything that `judged` checks.

    Two epochs of one form have the same kinds of units and links and the same sizes and shifts, and
    their units work in the same way. Addresses and coefficients do not count.
    """
    features = [(each.unit, each.kind, *sorted(each.sizes.items())) for each in features_of(epoch, names)]
    words = [each for each in control_words(epoch, names) if each[:2] in WHOLE | BITWISE]
    return hashlib.sha256(repr((sorted(features), sorted(words))).encode()).hexdigest()


def grade_of(findings: Iterable[Finding]) -> Grade:
    """Return the worst grade of the findings."""
    return max((finding.grade for finding in findings), default=Grade.SEEN)


def _of_feature(feature: Feature, kinds: Mapping[tuple[str, str], SeenKind]) -> Iterator[Finding]:
    seen = kinds.get((feature.unit, feature.kind))
    if seen is None:
        yield Finding(Grade.UNSEEN, f"{feature.unit} {feature.kind}: never seen")
        return
    for name, value in feature.sizes.items():
        low, high = seen.sizes.get(name, (0, 0))
        if value > high:
            yield Finding(Grade.LARGER, f"{feature.unit} {feature.kind}: {name} {value}, seen up to {high}")
        elif value < low and name in _MAY_BE_SMALL:
            yield Finding(Grade.SMALLER, f"{feature.unit} {feature.kind}: {name} {value}, seen from {low}")


def _of_word(word: int, seen: SeenBits) -> Iterator[Finding]:
    key, name = (seen.unit, seen.register), f"{seen.unit} {seen.register}"
    if key in WHOLE and word not in seen.words:
        yield Finding(Grade.UNSEEN, f"{name} is 0x{word:08X}: never seen")
    if key in BITWISE and (more := word & ~seen.set & _WORD):
        yield Finding(Grade.UNSEEN, f"{name}: bits 0x{more:08X} were never seen set")
