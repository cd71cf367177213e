"""Check that the NPU's formats hold the values of a network, from its constants."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.console import printable
from n6build.base.findings import Finding
from n6build.base.size_text import counted
from n6build.check.check import check
from n6build.check.subject import NetworkSubject, Subject
from n6build.judge.npu.saturation import CutChannel

# Findings for each network; the others are counted.
_SHOWN = 8


def _for_npu(subject: Subject) -> list[NetworkSubject]:
    return [network for network in subject.networks if network.reach and network.reach.layers]


@check("N6-CHECK-041", "the NPU's formats hold the values of each channel", "warning", _for_npu)
def saturating_channels(subject: Subject) -> Iterator[Finding]:
    """Report channels whose output ends early, since a product of 16 bits saturates.

    Only channels are reported whose weights let the product get there.
    """
    for network in _for_npu(subject):
        cut = network.reach.cut if network.reach else ()
        layers = {epoch.index: epoch.name for epoch in network.artifacts.epochs}
        for place, each in enumerate(cut[:_SHOWN], 1):
            where = f"{network.model.name}: epoch {each.epoch} {printable(layers.get(each.epoch, ''))}".rstrip()
            more = len(cut) - place if place == _SHOWN else 0
            yield Finding(where, _what(each) + (f" (and {counted(more, 'more channel')})" if more else ""), _HINT)


_HINT = (
    "run it with epochs=1, which counts the lost values; to avoid them, calibrate with representative data, so that the "
    "layer's output gets a larger scale, or clip or equalise the weights and biases of this channel"
)


def _what(cut: CutChannel) -> str:
    return (
        f"channel {cut.channel} may need {cut.needs:,} in {cut.unit}, whose format of {cut.bits} bits ends at "
        f"{cut.limit:,}: its output then ends at {cut.ends_at}, not at {cut.wanted}"
    )
