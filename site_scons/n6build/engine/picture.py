"""A picture of a plan as SVG, light and dark, that loads nothing from elsewhere.

Graphviz places the boxes and arrows. Its colours and fonts are replaced by a style sheet.

A plan as few boxes with few arrows, for a picture. A box has the steps of one kind in one folder.
An arrow that other arrows imply is left out.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from html import escape
from operator import or_

from rich.cells import cell_len

from n6build.base.console import printable
from n6build.engine.plan import Plan, needs_of
from n6build.engine.step import Step

_LETTERS = 26


@dataclass(frozen=True)
class Box:
    """Steps that are drawn as one.

    Attributes:
        steps: At least one step; all have the same verb.
        label: Files of the steps; for several compilations the folder of the sources.
        level: Number of steps in the longest chain in front of them.
    """

    steps: tuple[Step, ...]
    label: str
    level: int


@dataclass(frozen=True)
class Edge:
    """An arrow between two boxes.

    Attributes:
        tail: Index of the box that comes first.
        head: Index of the box that needs it.
        after: Whether the head only waits for the tail and reads none of its files.
    """

    tail: int
    head: int
    after: bool


def boxes_of(plan: Plan) -> tuple[Box, ...]:
    """Return the boxes of a plan by level.

    Steps of one box have the same level, so no boxes form a cycle.
    """
    levels: dict[str, int] = {}
    groups: dict[tuple[int, str, str, str], list[Step]] = {}
    for step in plan.steps:
        level = 1 + max((levels[file] for file in needs_of(step) if file in levels), default=-1)
        levels |= dict.fromkeys(step.outputs, level)
        key = (level, step.verb, os.path.dirname(step.name), os.path.dirname(_known_as(step)))
        groups.setdefault(key, []).append(step)
    labels = {key: _label(group, 1) for key, group in groups.items()}
    times = Counter((key[1], label) for key, label in labels.items())
    for key, group in groups.items():
        if times[key[1], labels[key]] > 1:
            labels[key] = _label(group, 2)
    return tuple(Box(tuple(groups[key]), labels[key], key[0]) for key in sorted(groups, key=lambda key: key[0]))


def _label(group: Sequence[Step], parts: int) -> str:
    """Return the last parts of a path, as the label of a box.

    It is the path of a step, or the folder of several compilations; other steps are listed by their
    names.
    """
    if len(group) > 1 and group[0].verb != "Compile":
        names = ", ".join(os.path.basename(step.name) for step in group)
        return names if len(names) <= _LETTERS else f"{names[: _LETTERS - 3]}..."
    path = _known_as(group[0]).split("/")
    # 'kernels' could be anything, 'firmware/kernels' is clear.
    label = "/".join(path[-parts:] if len(group) == 1 else path[:-1][-parts - 1 :])
    return label if len(label) <= _LETTERS else f"...{label[3 - _LETTERS :]}"


def _known_as(step: Step) -> str:
    """Return the name of a step, or the source of a compilation.

    The source is better known than the object file.
    """
    return step.sources[0] if step.verb == "Compile" and step.sources else step.name


def edges_of(boxes: Sequence[Box]) -> tuple[Edge, ...]:
    """Return the arrows that no others imply.

    An arrow for content is only implied by arrows for content.

    Args:
        boxes: All boxes of a plan, from `boxes_of`.
    """
    content = _reduced(_needed(boxes, lambda step: (*step.sources, *step.templates)))
    order = _reduced(_needed(boxes, needs_of))
    return tuple(
        Edge(tail, head, after=not content[head] >> tail & 1)
        for head in range(len(boxes))
        for tail in _numbers(content[head] | order[head])
    )


def _needed(boxes: Sequence[Box], files_of: Callable[[Step], Iterable[str]]) -> list[int]:
    """Return the boxes that each box needs, as the bits of a number.

    Sets of boxes are compared thousands of times.
    """
    makers = {file: 1 << number for number, box in enumerate(boxes) for step in box.steps for file in step.outputs}
    return [reduce(or_, (makers.get(file, 0) for step in box.steps for file in files_of(step)), 0) for box in boxes]


def _reduced(needed: Sequence[int]) -> list[int]:
    """Return those of the needed boxes that a box does not also need indirectly."""
    above: list[int] = []
    kept: list[int] = []
    for direct in needed:
        indirect = reduce(or_, (above[number] for number in _numbers(direct)), 0)
        above.append(direct | indirect)
        kept.append(direct & ~indirect)
    return kept


def _numbers(bits: int) -> list[int]:
    return [number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]


# Graphviz takes minutes for some plans with a thousand boxes, and nobody can read those.
MOST_BOXES = 300
# Against a program of this name that is not Graphviz's.
_TIMEOUT_S = 60
# Approximate width of a letter in pixels: slightly more than in most fonts of browsers.
_BOLD, _MONO = 7.3, 6.5
_PADDING = 10.0
_NAMES_IN_TIP = 16

# In a page, a style sheet applies everywhere: every rule is limited to this picture.
_STYLE = """
.n6-plan { color-scheme: light dark; --plan-paper: #ffffff; --plan-ink: #1c2330; --plan-quiet: #5b6577; --plan-line: #c6cdd9;
  --plan-box: #f4f6f9; --plan-ran: #1d4ed8; --plan-tint: #dbe7ff; --plan-arrow: #8b95a7; }
@media (prefers-color-scheme: dark) { .n6-plan { --plan-paper: #12161d; --plan-ink: #e6eaf1; --plan-quiet: #9aa5b8;
  --plan-line: #465265; --plan-box: #1a212b; --plan-ran: #7cb0ff; --plan-tint: #1c3258; --plan-arrow: #6d7a8f; } }
.n6-plan .graph > polygon { fill: var(--plan-paper); }
.n6-plan .graph > text { fill: var(--plan-quiet); font: 11.5px system-ui, sans-serif; }
.n6-plan .node text { fill: var(--plan-ink); font: 600 12.5px system-ui, sans-serif; }
.n6-plan .node text + text { font: 10.5px ui-monospace, monospace; }
.n6-plan .node path { fill: var(--plan-box); stroke: var(--plan-line); }
.n6-plan .node.ran path { fill: var(--plan-tint); stroke: var(--plan-ran); stroke-width: 2.5; }
.n6-plan .partly-ran path { stroke: var(--plan-ran); stroke-width: 2; stroke-dasharray: 6 3; }
.n6-plan .edge path { fill: none; stroke: var(--plan-arrow); stroke-width: 1.3; }
.n6-plan .edge polygon { fill: var(--plan-arrow); stroke: none; }
.n6-plan .after path { stroke-width: 0.9; stroke-dasharray: 3 3; }
.n6-plan .edge.ran path { stroke: var(--plan-ran); stroke-width: 1.8; }
.n6-plan .edge.ran polygon { fill: var(--plan-ran); }
"""

_GRAPH = r"""digraph {{
graph [label="{}. Solid arrow: is made into. Dashed arrow: must exist first.\l"]
graph [labelloc=t, labeljust=l, fontname=Courier, nodesep=0.17, pad=0.15]
node [shape=box, style=rounded, fixedsize=true, height=0.58]
edge [arrowsize=0.6]
{}
}}"""
# A page may shrink the picture to its own width, but not enlarge it.
_OPENING = """<svg xmlns="http://www.w3.org/2000/svg" class="n6-plan" width="{0}" height="{1}" viewBox="0 0 {0} {1}"
style="--n6-plan-width: {0}px" role="img" aria-label="{2}; each box has a tooltip with the files"><style>{3}</style>"""


class NoPictureError(Exception):
    """The reason why a plan has no picture, as text."""


@dataclass(frozen=True)
class _Drawn:
    """A box of the picture.

    Attributes:
        ran: Number of its steps that this build has done.
        attributes: Its attributes in Graphviz's language.
        tip: State and files.
    """

    ran: int
    attributes: str
    tip: str


def plan_svg(plan: Plan, done: Collection[str] | None = None) -> str:
    """Return an element <svg>, for a file of its own or as part of a page.

    Args:
        plan: The steps to draw.
        done: Names of the steps that this build has done; None for a plan that has not been carried out.

    Raises:
        NoPictureError: Graphviz is missing or fails, or the plan is too large.
    """
    boxes = boxes_of(plan)
    if len(boxes) > MOST_BOXES:
        raise NoPictureError(f"the plan has {len(boxes)} boxes, and at most {MOST_BOXES} are drawn")
    drawn = [_drawn(box, done) for box in boxes]
    lines = [f"n{number} [{each.attributes}]" for number, each in enumerate(drawn)]
    for edge in edges_of(boxes):
        kinds = ["after"] * edge.after + ["ran"] * bool(drawn[edge.tail].ran and drawn[edge.head].ran)
        lines.append(f'n{edge.tail} -> n{edge.head} [class="{" ".join(kinds)}"]')
    steps = f"{len(plan.steps)} steps"
    counted = steps if done is None else f"{sum(each.ran for each in drawn)} of {steps} ran"
    svg = _graphviz(_GRAPH.format(counted, "\n".join(lines)))
    found = re.search(r'<svg width="([\d.]+)pt" height="([\d.]+)pt"[^>]*>', svg)
    if found is None:
        raise NoPictureError("program dot, which should be Graphviz's, wrote no SVG")
    # Graphviz wrote the identifiers of nodes and edges as titles, which are tips.
    shapes = re.sub(
        r"<title>(?:n(\d+)|[^<]*)</title>",
        lambda title: f"<title>{escape(drawn[int(title[1])].tip)}</title>" if title[1] else "",
        svg[found.end() :],
    )
    return _OPENING.format(*found.groups(), counted, _STYLE) + shapes


def _drawn(box: Box, done: Collection[str] | None) -> _Drawn:
    verb, name = printable(box.steps[0].verb), printable(box.label)
    files = [printable(output) for step in box.steps for output in step.outputs]
    ran = sum(step.name in (done or ()) for step in box.steps)
    state = "planned" if done is None else "up-to-date" if not ran else "partly-ran" if ran < len(box.steps) else "ran"
    # The counts show the state without colours.
    counts = [f"{len(files)} files"] * (len(files) > 1) + ["ran"] * (state == "ran")
    heading = ", ".join([verb, *([f"{ran} of {len(box.steps)} ran"] if state == "partly-ran" else counts)])
    # Graphviz would measure letters of another font than the browser's.
    width = 2 * _PADDING + max(_BOLD * cell_len(heading), _MONO * cell_len(name))
    attributes = f'class="{state}", width={width / 72:.2f}, label="{_quoted(heading)}\\n{_quoted(name)}"'
    more = len(files) - _NAMES_IN_TIP
    tip = [f"{verb}: {state.replace('-', ' ')}", *files[:_NAMES_IN_TIP], *[f"and {more} more"] * (more > 0)]
    return _Drawn(ran, attributes, "\n".join(tip))


def _quoted(text: str) -> str:
    """Return a text for a label in quotes.

    Graphviz reads backslashes and HTML's entities there.
    """
    return text.replace("\\", r"\\").replace('"', r"\"").replace("&", "&amp;")


def _graphviz(graph: str) -> str:
    try:
        return subprocess.run(
            ["dot", "-Tsvg"], input=graph, capture_output=True, encoding="utf-8", timeout=_TIMEOUT_S, check=True
        ).stdout
    except FileNotFoundError:
        raise NoPictureError("program dot is not installed; install package graphviz") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise NoPictureError(printable(f"Graphviz failed: {error}")) from error
