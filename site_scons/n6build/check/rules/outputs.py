"""Check of the decoder of a network's outputs."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.errors import N6Error
from n6build.base.findings import Finding
from n6build.check.check import check
from n6build.check.subject import NetworkSubject, Subject
from n6build.judge.postprocess.layout import ID, layout_of


def _decoded(subject: Subject) -> list[NetworkSubject]:
    return [network for network in subject.networks if network.model.postprocess]


@check(ID, "outputs fit the decoder in model.yaml", "error", _decoded)
def decoder(subject: Subject) -> Iterator[Finding]:
    """Report outputs with another number or other shapes than those of the decoder."""
    for network in _decoded(subject):
        artifacts, settings = network.artifacts, network.model.postprocess
        try:
            if settings:
                layout_of(settings, artifacts.inputs, artifacts.outputs, network.model.classes)
        except N6Error as error:
            yield Finding(f"{network.model.name}: postprocess", error.what, error.hint or "")
