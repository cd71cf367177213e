"""What boards have made of forms of epochs: by their records alone does a grade rise above what was seen of ST's compiler."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base.console import clipped, printable, say
from n6build.own_blobs.board_record import Ladder, RungEpoch, read_ladder

_FAILED = ("differs", "stopped")
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Confirmed:
    """forms: of epochs that a board gave the right bytes of. failed: by kind of epoch, the rungs in which it failed, for
    people."""

    forms: frozenset[str] = frozenset()
    failed: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def warnings(self, kind: str, form: str) -> tuple[str, ...]:
        """Of an epoch, the rungs in which one of its kind failed; none where this very form was confirmed."""
        return () if form in self.forms else self.failed.get(kind, ())


def confirmed_by(records: Iterable[Ladder]) -> Confirmed:
    """Records of virtual boards count for nothing. A form that one board confirms and that is suspect on another one is not
    confirmed."""
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
    """Rung, for people, and epoch of what failed on a board that has not confirmed the same form itself."""
    return [
        (f"{_name(rung.name)} on {_name(record.board)}", epoch)
        for rung in record.rungs
        for epoch in rung.epochs
        if epoch.result in _FAILED and epoch.form not in confirmed
    ]


def _name(text: str) -> str:
    return printable(clipped(text, _LONGEST_NAME))


def read_confirmed(files: Sequence[Path]) -> Confirmed:
    """files: records of target ladder. Says what each of them is good for. Raises as `read_ladder`."""
    records = []
    for file in files:
        record = read_ladder(file)
        if record is None:
            continue
        records.append(record)
        if record.virtual:
            say("Record", file.name, "of a virtual board, which confirms nothing")
        else:
            found = confirmed_by([record])
            failed = ", ".join(map(_name, found.failed)) or "none"
            say(
                "Record",
                file.name,
                f"{_name(record.board)}: forms confirmed {len(found.forms)}, kinds failed: {failed}",
            )
    return confirmed_by(records)
