"""Changed sizes of applications in a merge request, as a Markdown comment."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import clipped, say
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.size_text import counted
from n6build.tell.figures import Figure, Sizes, SizesFile, sizes_json

# Longer names are cut: readers need no more of them.
_LONGEST_NAME = 80
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._-]*")
# Sizes in the first table.
_OVERVIEW = ("FSBL in RAM", "Appli in RAM", "flash slot fsbl", "flash slot appli")


@dataclass(frozen=True)
class Changed:
    """A size, now and in the base.

    Attributes:
        name: Name of the size.
        now: None if there is no such size.
        before: None if the base has no such size.
    """

    name: str
    now: Figure | None
    before: Figure | None

    @property
    def difference(self) -> int:
        """Return the difference in bytes; it is positive if the size has grown."""
        return (self.now.used if self.now else 0) - (self.before.used if self.before else 0)

    @property
    def is_changed(self) -> bool:
        """Return true for any change, also of the limit."""
        return self.now != self.before


@dataclass(frozen=True)
class Compared:
    """An application, compared with the base.

    Attributes:
        sizes: Its sizes.
        known: True if the base has the application.
        figures: Its sizes, now and in the base.
    """

    sizes: Sizes
    known: bool
    figures: tuple[Changed, ...]

    @property
    def changes(self) -> tuple[Changed, ...]:
        """Return the changed sizes, empty if the base does not have the application."""
        return tuple(each for each in self.figures if each.is_changed) if self.known else ()


def compare(now: SizesFile, base: SizesFile | None) -> list[Compared]:
    """Return the applications in order; applications only in the base are left out."""
    known = {each.identity: each for each in base.applications} if base else {}
    ordered = sorted(now.applications, key=lambda each: each.identity)
    return [_compared(each, known.get(each.identity)) for each in ordered]


def _compared(now: Sizes, before: Sizes | None) -> Compared:
    old = {figure.name: figure for figure in before.figures} if before else {}
    new = {figure.name: figure for figure in now.figures}
    names = [*new, *(name for name in old if name not in new)]
    return Compared(now, before is not None, tuple(Changed(name, new.get(name), old.get(name)) for name in names))


def verdict(compared: Collection[Compared], base: SizesFile | None) -> str:
    """Return one sentence on the comparison."""
    if base is None:
        return "No comparison: set base=FILE to sizes.json or merge_report.json of the base branch"
    known = [each for each in compared if each.known]
    if not known:
        return f"The base has none of these: {counted(len(compared), 'application')} new"
    changes = sum(len(each.changes) for each in known)
    new = f", {counted(len(compared) - len(known), 'application')} new" if len(known) < len(compared) else ""
    if not changes:
        return f"No size has changed{new}"
    where = f"{len([each for each in known if each.changes])} of {counted(len(known), 'application')}"
    return f"{counted(changes, 'size')} changed in {where}{new}"


def merge_report(now: SizesFile, base: SizesFile | None) -> str:
    """Return the text of merge_report.md, the same for the same sizes."""
    compared = compare(now, base)
    lines = ["## Size and memory", "", f"{verdict(compared, base)}."]
    if base and base.n6build != now.n6build:
        lines.append(f"The base was built by n6build {named(base.n6build)}, this by {named(now.n6build)}.")
    lines.append("")
    if len(compared) > 1:
        lines += [*_overview(compared), ""]
    for each in compared:
        lines += _details(each, folded=len(compared) > 1)
    here = {each.sizes.identity for each in compared}
    gone = [each for each in base.applications if each.identity not in here] if base else []
    if gone:
        listed = "; ".join(_title(each) for each in sorted(gone, key=lambda each: each.identity))
        lines += [f"Only in the base: {listed}.", ""]
    return "\n".join(lines)


def named(text: str) -> str:
    """Return any text as code that is safe in Markdown.

    No reader takes it for a link, a mention, HTML or the end of a cell.
    """
    text = clipped(text, _LONGEST_NAME)
    if _PLAIN.fullmatch(text):
        return f"`{text}`"
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return f"<code>{''.join(each if each.isalnum() else f'&#{ord(each)};' for each in shown)}</code>"


def _title(sizes: Sizes) -> str:
    loader = ", loaded from flash" if sizes.loader == "reloc" else ""
    return f"{named(sizes.application)} on {named(sizes.board)}, profile {named(sizes.profile)}{loader}"


def _overview(compared: Sequence[Compared]) -> list[str]:
    lines = [
        f"| application | {' | '.join(_OVERVIEW)} | changes |",
        f"|---|{'---:|' * len(_OVERVIEW)}---|",
    ]
    for each in compared:
        figures = {changed.name: changed for changed in each.figures}
        cells = [_used(figures.get(name), known=each.known) for name in _OVERVIEW]
        changes = "new" if not each.known else str(len(each.changes) or "")
        lines.append(f"| {_title(each.sizes)} | {' | '.join(cells)} | {changes} |")
    return lines


def _used(changed: Changed | None, *, known: bool) -> str:
    if changed is None or changed.now is None:
        return ""
    difference = changed.difference if known else 0
    return f"{changed.now.used:,}" + (f" **({difference:+,})**" if difference else "")


def _details(compared: Compared, *, folded: bool) -> list[str]:
    title = _title(compared.sizes)
    rows = [
        "| | used | limit | share | change |",
        "|---|---:|---:|---:|---:|",
        *(_row(each, known=compared.known) for each in compared.figures),
        "",
    ]
    if not folded:
        return [f"### {title}", "", *rows]
    # Code spans of Markdown have no effect in HTML.
    html = re.sub(r"`([^`]*)`", r"<code>\1</code>", title)
    return [f"<details><summary>{html}</summary>", "", *rows, "</details>", ""]


def _row(changed: Changed, *, known: bool) -> str:
    now = changed.now
    name = named(changed.name) if not _is_ours(changed.name) else changed.name
    used = f"{now.used:,}" if now else "none"
    limit = f"{now.limit:,}" if now and now.limit else ""
    share = f"{now.used / now.limit:.1%}" if now and now.limit else ""
    return f"| {name} | {used} | {limit} | {share} | {_change(changed) if known else 'new'} |"


def _is_ours(name: str) -> bool:
    return re.fullmatch(r"(FSBL|Appli) in RAM|flash slot [a-z]+|(pool|bank) [A-Za-z0-9]+", name) is not None


def _change(changed: Changed) -> str:
    now, before = changed.now, changed.before
    if before is None:
        return "**new**"
    if now is None:
        return f"**gone** (was {before.used:,})"
    parts = []
    if changed.difference:
        share = f" ({changed.difference / before.used:+.1%})" if before.used else ""
        parts.append(f"**{changed.difference:+,}**{share}")
    if now.limit != before.limit:
        parts.append(f"limit was {before.limit or 0:,}")
    return ", ".join(parts)


def check_base(base: str, made: tuple[str, ...]) -> None:
    """Check that the base is not a file of this build.

    Args:
        base: Path of the base; empty if there is none.
        made: Files of this build.

    Raises:
        N6Error: N6-SIZES-003 if the base is one of them.
    """
    if base and Path(base).resolve() in {Path(file).resolve() for file in made}:
        what = "is an output of this build: the comparison would have no effect"
        hint = "copy the file of the base branch to another place, and set base=FILE"
        raise N6Error("N6-SIZES-003", what, where=project_path(base), hint=hint)


def write_merge_report(folder: Path, now: SizesFile, base: SizesFile | None) -> None:
    """Write merge_report.md and merge_report.json to the folder; print the verdict."""
    markdown = folder / "merge_report.md"
    write_atomically(markdown, merge_report(now, base))
    write_atomically(markdown.with_suffix(".json"), sizes_json(now))
    say("Compared", verdict(compare(now, base), base), str(markdown))
