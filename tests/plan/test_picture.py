"""The picture of a plan: boxes of related steps, arrows, and valid XML.

Names from outside do not break the XML.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from functools import partial
from itertools import pairwise
from random import Random
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.engine.boxes import Edge, boxes_of, edges_of
from n6build.engine.layout import ROW, Layout, layered
from n6build.engine.picture import plan_svg
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step

from plan.plan_samples import APPLICATION, BOARD, application_plan, compilation, link, make

SVG = "{http://www.w3.org/2000/svg}"


def read(svg: str) -> Element:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


def boxes_in(root: Element, state: str = "") -> list[Element]:
    found = [group for group in root.iter(f"{SVG}g") if group.get("class", "").split(" ")[0] == "box"]
    return [group for group in found if not state or group.get("class") == f"box {state}"]


def texts(element: Element) -> str:
    return " ".join("".join(text.itertext()) for text in element.iter(f"{SVG}text"))


def tip(box: Element) -> str:
    return box.findtext(f"{SVG}title") or ""


def arrows(root: Element) -> list[Element]:
    """Return the arrows without those of the legend."""
    (inside,) = [group for group in root.findall(f"{SVG}g") if group.get("transform")]
    return [path for path in inside.iter(f"{SVG}path") if "edge" in path.get("class", "").split()]


def box_of(root: Element, output: str) -> Element:
    (found,) = [box for box in boxes_in(root) if output in tip(box).splitlines()]
    return found


def test_compilations_of_a_folder_are_one_box() -> None:
    plan = application_plan()
    boxes = boxes_of(plan)
    assert len(plan.steps) == 55
    assert len(boxes) == 26
    root = read(plan_svg(plan))
    assert texts(box_of(root, f"{BOARD}/common/kernels/mean.o")).startswith("Compile9 files firmware/kernels")
    assert texts(box_of(root, f"{BOARD}/include/n6_soc.h")) == "Header2 files n6_soc.h, n6_board.h"
    assert texts(box_of(root, f"{APPLICATION}/memory_plan.json")) == "Plan3 files memory_plan.json"
    assert sorted(step.name for box in boxes for step in box.steps) == sorted(step.name for step in plan.steps)


def test_boxes_of_the_same_name_are_told_apart() -> None:
    steps = [make("Network", "network", f"build/{name}/network.c", (f"{name}.tflite",)) for name in ("one", "two")]
    assert [box.label for box in boxes_of(make_plan(steps))] == ["one/network.c", "two/network.c"]


def test_labels_are_short_and_say_what_is_known() -> None:
    slots = [make("Weights", "image", f"build/a+b+c/weights_{name}_slot.bin", (f"{name}.raw",)) for name in "abc"]
    compiled = [compilation("build/fsbl", f"firmware/fsbl/{name}.c", ()) for name in ("main", "load")]
    single = compilation("build/x", f"src/{'long' * 20}.c", ())
    labels = [box.label for box in boxes_of(make_plan([*slots, *compiled, single]))]
    assert labels == ["weights_a_slot.bin, wei...", "firmware/fsbl", f"...{('long' * 20 + '.c')[-23:]}"]


def test_files_that_wait_for_each_other_never_share_a_box() -> None:
    first = compilation("build", "src/tool.c", ())
    tool = link("build/tool.elf", [first.name], ("a.ld",))
    made = make("Make", "make", "src/made.c", (tool.name,))
    second = compilation("build", "src/made.c", ())
    plan = make_plan([first, tool, made, second])
    assert len(boxes_of(plan)) == 4
    assert len(edges_of(boxes_of(plan))) == 3


def named_edges(plan: Plan) -> set[tuple[str, str, bool]]:
    boxes = boxes_of(plan)
    return {(boxes[edge.tail].label, boxes[edge.head].label, edge.after) for edge in edges_of(boxes)}


def test_an_arrow_that_others_imply_is_left_out() -> None:
    steps = [
        make("A", "s", "a"),
        make("B", "s", "b", ("a",)),
        make("C", "s", "c", ("a", "b"), after=("a",)),
        make("D", "s", "d", ("a",), after=("c",)),
    ]
    # The arrow to a source of d is drawn, although the order of steps implies it.
    assert named_edges(make_plan(steps)) == {
        ("a", "b", False),
        ("b", "c", False),
        ("a", "d", False),
        ("c", "d", True),
    }


def test_what_only_has_to_be_there_is_drawn_thin() -> None:
    plan = make_plan([make("A", "s", "a"), make("B", "s", "b", after=("a",)), make("C", "s", "c", ("b",))])
    root = read(plan_svg(plan))
    assert sorted(arrow.get("class", "") for arrow in arrows(root)) == ["edge", "edge after"]
    assert "must exist first" in texts(root)


def test_what_ran_shows_in_more_than_its_colour() -> None:
    done = {f"{BOARD}/common/kernels/mean.o", f"{BOARD}/common/kernels/pool.o", f"{APPLICATION}/appli/appli.elf"}
    root = read(plan_svg(application_plan(), done))
    ran, partly = box_of(root, f"{APPLICATION}/appli/appli.elf"), box_of(root, f"{BOARD}/common/kernels/mean.o")
    assert boxes_in(root, "ran") == [ran]
    assert boxes_in(root, "partly-ran") == [partly]
    assert len(boxes_in(root, "up-to-date")) == 24
    assert "2 of 9 ran" in texts(partly)
    assert "3 of 55 steps ran" in texts(root)
    assert texts(ran).startswith("Link2 files, ran ")
    assert [box for box in boxes_in(root) if "ran" in texts(box).split()] == [partly, ran]
    assert [arrow.get("class") for arrow in arrows(root)].count("edge ran") == 1


@pytest.mark.parametrize(("done", "words"), [((), "0 of 55 steps ran"), (None, "55 steps ")])
def test_nothing_is_said_of_a_build_that_was_not(done: Collection[str] | None, words: str) -> None:
    root = read(plan_svg(application_plan(), done))
    assert words in texts(root) + " "
    state = "planned" if done is None else "up to date"
    assert len(boxes_in(root, state.replace(" ", "-"))) == 26
    assert all(tip(box).split(": ")[1].startswith(f"{state}\n") for box in boxes_in(root))


def test_nothing_comes_from_elsewhere() -> None:
    svg = plan_svg(application_plan(), ())
    assert not re.search(
        r"https?:|url\(|@import|<script|href", svg.replace('xmlns="http://www.w3.org/2000/svg"', "", 1)
    )
    # The style sheet must not affect a page around the picture.
    style = re.search(r"<style>(.*?)</style>", svg, re.DOTALL)
    assert style
    rules = re.sub(r"@media \([^)]*\) \{", "", style[1])
    for selectors in re.findall(r"([^{}]+)\{", rules):
        assert all(each.strip().startswith(".n6-plan") for each in selectors.split(",")), selectors


HOSTILE = [
    '<script>"',
    "a\nb",
    "]]>",
    "%s%n",
    "&amp;",
    "-->",
    "n" * 200,
    "漢字" * 60,
    "\x1b[2J",
    "\ud800",
    "'\\N{x",
    "\t",
]


@pytest.mark.parametrize("name", HOSTILE, ids=[f"name {number}" for number in range(len(HOSTILE))])
def test_names_stay_text(name: str) -> None:
    steps = [
        make(name, name, f"x/{name}"),
        *(compilation(name, f"{name}/{name}{n}.c", (f"x/{name}",)) for n in range(3)),
    ]
    svg = plan_svg(make_plan(steps), {f"x/{name}"})
    root = read(svg)
    assert svg.encode()
    assert len(boxes_in(root)) == 2
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "style", "rect", "g", "title", "text", "tspan", "circle", "path")
    }
    assert all(line.isprintable() for line in "\n".join(root.itertext()).split("\n"))


def test_the_same_plan_gives_the_same_picture() -> None:
    assert plan_svg(application_plan(), ()) == plan_svg(application_plan(), ())


def test_an_empty_plan_has_a_picture() -> None:
    assert not boxes_in(read(plan_svg(make_plan([]))))


def test_letters_fit_their_boxes() -> None:
    root = read(plan_svg(application_plan(), ()))
    for box in boxes_in(root):
        width = float(next(box.iter(f"{SVG}rect")).get("width", ""))
        (name,) = [text for text in box.iter(f"{SVG}text") if text.get("class") == "name"]
        # The font has a fixed width, 0.6 of the height in most fonts.
        assert 20 + len(name.text or "") * 10.5 * 0.605 <= width


Graph = tuple[list[float], list[int], list[Edge]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(0, 25))
    widths = [float(draw(st.integers(20, 400))) for _ in range(count)]
    number = st.integers(0, max(count - 1, 0))
    pairs = draw(st.sets(st.tuples(number, number), max_size=60))
    edges = [Edge(tail, head, draw(st.booleans())) for tail, head in sorted(pairs) if tail < head]
    levels = [0] * count
    for edge in edges:
        levels[edge.head] = max(levels[edge.head], levels[edge.tail] + 1)
    return widths, levels, edges


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_boxes_stand_below_what_they_need_and_never_on_each_other(graph: Graph) -> None:
    widths, levels, edges = graph
    layout = layered(widths, levels, edges)
    check_places(layout, widths)
    for edge, way in zip(edges, layout.ways, strict=True):
        assert (way[0], way[-1]) == (layout.centres[edge.tail], layout.centres[edge.head])
        assert all(other[1] - one[1] == ROW for one, other in pairwise(way))
        # In the rows that it passes, the arrow is clear of all boxes.
        for x, y in way[1:-1]:
            row = [(at, width) for (at, down), width in zip(layout.centres, widths, strict=True) if down == y]
            assert all(abs(x - at) >= width / 2 + 9.9 for at, width in row)


def check_places(layout: Layout, widths: list[float]) -> None:
    rows: dict[float, list[tuple[float, float]]] = {}
    for (x, y), width in zip(layout.centres, widths, strict=True):
        assert x - width / 2 >= -0.01
        assert x + width / 2 <= layout.width + 0.01
        assert ROW / 2 <= y <= layout.height - ROW / 2
        rows.setdefault(y, []).append((x - width / 2, x + width / 2))
    for row in rows.values():
        assert all(left[1] + 9.9 < right[0] for left, right in pairwise(sorted(row)))


def test_a_box_without_arrows_stays_beside_the_others() -> None:
    plan = application_plan()
    alone = make("Editor", "any", "vscode.json")
    without, beside = (
        float(read(plan_svg(make_plan(steps))).get("width", ""))
        for steps in (plan.steps, (*plan.steps[:3], alone, *plan.steps[3:]))
    )
    assert beside < without + 120


def place(box: Element) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom side of a box."""
    rect = next(box.iter(f"{SVG}rect"))
    x, y, width, height = (float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def test_drawn_boxes_never_overlap() -> None:
    places = [place(box) for box in boxes_in(read(plan_svg(application_plan(), ())))]
    assert len(places) == 26
    for number, (left, top, right, bottom) in enumerate(places):
        for other in places[:number]:
            assert right < other[0] or other[2] < left or bottom < other[1] or other[3] < top


def test_every_arrow_leads_from_its_box_to_the_top_of_the_other() -> None:
    plan = application_plan()
    root = read(plan_svg(plan))
    places = [place(box) for box in boxes_in(root)]
    tips = [path.get("d", "").split("l")[0] for path in root.iter(f"{SVG}path") if path.get("class", "")[:3] == "tip"]
    found = set()
    for arrow in arrows(root):
        numbers = [float(each) for each in re.findall(r"[\d.]+", arrow.get("d", ""))]
        (tail,) = [n for n, (left, top, right, down) in enumerate(places) if near(numbers, left, right, top, down)]
        (head,) = [n for n, (left, top, right, _) in enumerate(places) if near(numbers[-2:], left, right, top, top)]
        found.add((tail, head))
        assert "M{:g} {:g} ".format(*numbers[-2:]) in tips
    assert found == {(edge.tail, edge.head) for edge in edges_of(boxes_of(plan))}


def near(point: list[float], left: float, right: float, top: float, bottom: float) -> bool:
    """Return whether a point is in the middle, within rounding."""
    return abs(point[0] - (left + right) / 2) < 0.2 and abs(point[1] - (top + bottom) / 2) < 0.2


FOLDERS = st.sampled_from(["", "a/", "b/", "a/b/", "<&/"])


def _source(number: int, folder: str) -> str:
    return f"{folder}{number}.c"


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    steps: list[Step] = []
    for number in range(draw(st.integers(0, 20))):
        verb = draw(st.sampled_from(["Compile", "Link", "Image", "Make <b>"]))
        known = [output for step in steps for output in step.outputs]
        needs = st.lists(st.sampled_from(known), max_size=4, unique=True) if known else st.just([])
        outputs = [f"build/{draw(FOLDERS)}{number}{each}" for each in draw(st.sampled_from(["o", "xy"]))]
        sources = [*draw(st.lists(FOLDERS.map(partial(_source, number)), max_size=1)), *draw(needs)]
        steps.append(make(verb, "any", outputs, tuple(sources), after=tuple(draw(needs))))
    return make_plan(draw(st.permutations(steps)))


@given(plans(), st.data())
@settings(max_examples=200, deadline=None)
def test_every_plan_has_a_picture_with_every_step_once(plan: Plan, data: st.DataObject) -> None:
    names = [step.name for step in plan.steps]
    done = data.draw(st.none() | st.sets(st.sampled_from(names)) if names else st.none())
    root = read(plan_svg(plan, done))
    boxes = boxes_of(plan)
    assert sorted(step.name for box in boxes for step in box.steps) == sorted(names)
    assert len(boxes_in(root)) == len(boxes)
    for box, drawn in zip(boxes, boxes_in(root), strict=True):
        outputs = [output for step in box.steps for output in step.outputs]
        # A tip names at most 16 outputs, since readers stop there.
        assert tip(drawn).splitlines()[1:17][: len(outputs)] == outputs[:16]
    edges = edges_of(boxes)
    assert len(arrows(root)) == len(edges) == len({(edge.tail, edge.head) for edge in edges})
    assert reachable(plan, edges) == needed(plan)


def reachable(plan: Plan, edges: Collection[Edge]) -> set[tuple[int, int]]:
    return closure({(edge.tail, edge.head) for edge in edges})


def needed(plan: Plan) -> set[tuple[int, int]]:
    """Return the pairs of boxes that depend on each other, without any omission."""
    place = {output: n for n, box in enumerate(boxes_of(plan)) for step in box.steps for output in step.outputs}
    return closure(
        {
            (place[file], place[step.name])
            for step in plan.steps
            for file in (*step.sources, *step.templates, *step.after)
            if file in place
        }
    )


def closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs = pairs | more


def many(shape: str) -> Plan:
    """Return a plan of 2,000 steps."""
    if shape == "files":
        objects = [compilation(f"build/{n % 40}", f"src/{n % 40}/{n}.c", ("h0",)) for n in range(1998)]
        return make_plan(
            [make("Header", "header", "h0"), *objects, link("a.elf", [step.name for step in objects], ("l",))]
        )
    near = {"chain": 1, "near": 40, "far": 2000}[shape]
    chance = Random(1)
    needs = [{max(0, n - chance.randint(1, near)) for _ in range(3) if n} for n in range(2000)]
    return make_plan(
        make("Make", "any", f"f{n}/o", tuple(f"f{each}/o" for each in sorted(needs[n]))) for n in range(2000)
    )


@pytest.mark.parametrize("shape", ["files", "chain", "near", "far"])
def test_thousands_of_steps_take_about_a_second(shape: str) -> None:
    plan = many(shape)
    began = time.process_time()
    svg = plan_svg(plan, ())
    assert time.process_time() - began < 3
    assert len(boxes_in(read(svg))) == len(boxes_of(plan))
