"""Example of a new check; no other file is needed.

Its folder is site_scons/n6build/check/rules/.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.findings import Finding
from n6build.check.check import check
from n6build.check.subject import NetworkSubject, Subject

_LEAST_BYTES = 1 << 20


def _networks(subject: Subject) -> list[NetworkSubject]:
    """Return the networks to check; without any, the check neither passes nor fails."""
    return [network for network in subject.networks if network.artifacts.inputs]


@check("N6-CHECK-099", "the input is large enough to see anything", "error", _networks)
def small_input(subject: Subject) -> Iterator[Finding]:
    for network in _networks(subject):
        for port in network.artifacts.inputs:
            if port.bytes < _LEAST_BYTES:
                yield Finding(
                    # The model's name comes first. With it, the build finds the model.yaml that may waive the finding.
                    f"{network.model.name}: input {port.name}",
                    f"has {port.bytes} bytes, {_LEAST_BYTES - port.bytes} fewer than our camera gives",
                    "train the model with a larger input",
                )
