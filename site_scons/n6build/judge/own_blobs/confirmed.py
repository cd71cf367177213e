"""Results of boards for forms of epochs.

Only the records of boards raise a grade above the features seen of ST's compiler.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base.console import clipped, printable, say
from n6build.judge.own_blobs.board_record import Ladder, RungEpoch, read_ladder

_FAILED = ("differs", "stopped")
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Confirmed:
    """The results of boards.

    Attributes:
        forms: forms of epochs for which a board gave the right bytes.
        failed: texts of the rungs in which epochs failed, by kind of epoch.
    """

    forms: frozenset[str] = frozenset()
    failed: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def warnings(self, kind: str, form: str) -> tuple[str, ...]:
        """Return the rungs in which an epoch of this kind failed.

        The result is empty if the form itself was confirmed.
        """
        return () if form in self.forms else self.failed.get(kind, ())


def confirmed_by(records: Iterable[Ladder]) -> Confirmed:
    """Return the results in records of boards.

    Records of virtual boards do not count. A form that one board confirms and that is suspect on
    another is not confirmed.
    """
    forms: set[str] = set()
    suspect: set[str] = set()
    failed: dict[str, tuple[str, ...]] = {}
    for record in records:
        if record.virtual:
            continue
        own = {epoch.form for rung in record.rungs for epoch in rung.epochs if epoch.result == "equal"} - {""}
        forms |= own
        for rung, epoch in _suspects(record, own):
            suspect.add(epoch.form)
            known = failed.get(epoch.kind, ())
            if rung not in known:
                failed[epoch.kind] = (*known, rung)
    return Confirmed(frozenset(forms - suspect), failed)


def _suspects(record: Ladder, confirmed: set[str]) -> list[tuple[str, RungEpoch]]:
    """Return (name of the rung, epoch) of failures that the same board did not refute.

    A board refutes a failure if it confirms the same form.
    """
    return [
        (f"{_name(rung.name)} on {_name(record.board)}", epoch)
        for rung in record.rungs
        for epoch in rung.epochs
        if epoch.result in _FAILED and epoch.form not in confirmed
    ]


def _name(text: str) -> str:
    return clipped(printable(text), _LONGEST_NAME)


def read_confirmed(files: Sequence[Path]) -> Confirmed:
    """Read records of target ladder, and report the use of each.

    Args:
        files: records of target ladder.

    Raises:
        N6Error: the errors of `read_ladder`.
    """
    records = []
    for file in files:
        record = read_ladder(file)
        if record is None:
            continue
        records.append(record)
        if record.virtual:
            say("Record", file.name, "ignored: a virtual board confirms nothing")
        else:
            found = confirmed_by([record])
            failed = ", ".join(map(_name, found.failed)) or "none"
            say(
                "Record",
                file.name,
                f"{_name(record.board)}: forms confirmed {len(found.forms)}, kinds failed: {failed}",
            )
    return confirmed_by(records)
