"""Time stamps of outputs that a step makes again with the same bytes.

Other build systems compare times: an output that is not newer is no reason for them to compile or link again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from n6build.base import uses
from n6build.plan.ledger import Ledger
from n6build.plan.step import Step


@dataclass(frozen=True)
class KeptTimes:
    """An output before its step runs again.

    Attributes:
        path: The file.
        digest: SHA-256 of its content.
        times: Of the last access and the last modification, in ns.
    """

    path: str
    digest: str
    times: tuple[int, int]


def times_of(step: Step, ledger: Ledger) -> list[KeptTimes]:
    """Return the outputs that are as the step left them; others have no times worth keeping."""
    entry = ledger.entries.get(step.name)
    found = []
    for output in step.outputs if entry else ():
        written = entry.outputs.get(output) if entry else None
        try:
            known = os.stat(output)
            if written and uses.state_of(output) == written.state:
                found.append(KeptTimes(output, written.digest, (known.st_atime_ns, known.st_mtime_ns)))
        except OSError:
            continue
    return found


def keep_times(earlier: list[KeptTimes]) -> None:
    """Give outputs with the same bytes as before their earlier times back."""
    for output in earlier:
        if uses.digest_of(output.path) == output.digest:
            os.utime(output.path, ns=output.times)
