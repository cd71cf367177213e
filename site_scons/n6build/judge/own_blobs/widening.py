"""Widening of an envelope by more networks, and the newly allowed features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from n6build.judge.npu.names import Names
from n6build.judge.npu.settings import EpochSettings
from n6build.judge.own_blobs.envelope import BITWISE, WHOLE, Envelope, SeenBits, SeenKind
from n6build.judge.own_blobs.features import Feature, control_words, features_of

EMPTY = Envelope((), 0, 0, ())


def widened(envelope: Envelope, name: str, epochs: Iterable[EpochSettings], names: Names) -> Envelope:
    """Return an envelope with the epochs of one more network's blobs."""
    kinds = {(each.unit, each.kind): each for each in envelope.kinds}
    bits = {(each.unit, each.register): each for each in envelope.bits}
    count = 0
    for epoch in epochs:
        count += 1
        for feature in features_of(epoch, names):
            key = (feature.unit, feature.kind)
            kinds[key] = _with_feature(kinds.get(key), feature)
        for unit, register, word in control_words(epoch, names):
            if (unit, register) in WHOLE | BITWISE:
                bits[unit, register] = _with_word(bits.get((unit, register)), unit, register, word)
    return replace(
        envelope,
        networks=(*envelope.networks, name),
        epochs=envelope.epochs + count,
        epochs_with_bits=envelope.epochs_with_bits + count,
        kinds=tuple(kinds[key] for key in sorted(kinds)),
        bits=tuple(bits[key] for key in sorted(bits)),
    )


def _with_feature(seen: SeenKind | None, feature: Feature) -> SeenKind:
    if seen is None:
        sizes: dict[str, tuple[int, ...]] = {name: (value, value) for name, value in feature.sizes.items()}
        return SeenKind(feature.unit, feature.kind, 1, sizes)
    sizes = dict(seen.sizes)
    for name, value in feature.sizes.items():
        low, high = sizes.get(name, (value, value))
        sizes[name] = (min(low, value), max(high, value))
    return replace(seen, count=seen.count + 1, sizes=sizes)


def _with_word(seen: SeenBits | None, unit: str, register: str, word: int) -> SeenBits:
    before = seen or SeenBits(unit, register, 0)
    words = {word} if (unit, register) in WHOLE else set()
    return replace(before, set=before.set | word, words=tuple(sorted({*before.words, *words})))


def envelope_text(envelope: Envelope) -> str:
    """Return the envelope as YAML, one line for each kind and each register."""
    lines = [
        "# Facts seen in outputs of ST's compiler for the NPU: kinds of units and links, their sizes, bits of "
        "registers.",
        "# Made by tools/npu_envelope.py; not edited by hand.",
        f"networks: {list(envelope.networks)}",
        f"epochs: {envelope.epochs}",
        f"epochs_with_bits: {envelope.epochs_with_bits}",
        "kinds:",
    ]
    for each in envelope.kinds:
        sizes = ", ".join(f"{name}: [{low}, {high}]" for name, (low, high) in sorted(each.sizes.items()))
        lines.append(f'  - {{unit: {each.unit}, kind: "{each.kind}", count: {each.count}, sizes: {{{sizes}}}}}')
    lines.append("bits:" if envelope.bits else "bits: []")
    for bits in envelope.bits:
        words = ", ".join(f"0x{word:08X}" for word in bits.words)
        lines.append(f"  - {{unit: {bits.unit}, register: {bits.register}, set: 0x{bits.set:08X}, words: [{words}]}}")
    return "".join(f"{line}\n" for line in lines)


def newly_allowed(before: Envelope, after: Envelope) -> list[str]:
    """Return lines for the features that `after` allows and `before` did not."""
    known = {(each.unit, each.kind): each for each in before.kinds}
    lines = []
    for each in after.kinds:
        old = known.get((each.unit, each.kind))
        if old is None:
            lines.append(f"new kind: {each.unit} {each.kind}".rstrip())
            continue
        for name, (low, high) in sorted(each.sizes.items()):
            least, most = old.sizes.get(name, (0, 0))
            if high > most or low < least:
                lines.append(f"{each.unit} {each.kind}: {name} {low} to {high}, before {least} to {most}")
    bits = {(each.unit, each.register): each for each in before.bits}
    for seen in after.bits:
        earlier = bits.get((seen.unit, seen.register), SeenBits(seen.unit, seen.register, 0))
        if more := seen.set & ~earlier.set:
            lines.append(f"{seen.unit} {seen.register}: bits 0x{more:08X}")
        lines += [f"{seen.unit} {seen.register}: 0x{word:08X}" for word in seen.words if word not in earlier.words]
    return lines
