"""The picture of a plan: one box for what belongs together, arrows for what is made into what, XML whatever the names."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.plan.boxes import Edge, boxes_of, edges_of
from n6build.plan.graphviz import dot_layout, find_dot
from n6build.plan.layout import Layout, layered
from n6build.plan.picture import plan_svg
from n6build.plan.plan import Plan, make_plan
from n6build.plan.step import Step

from plan.plan_samples import APPLICATION, BOARD, application_plan, compilation, link, make

SVG = "{http://www.w3.org/2000/svg}"
DOT = find_dot()
needs_dot = pytest.mark.skipif(DOT is None, reason="Graphviz is not installed: there is no dot in PATH")
ways = pytest.mark.parametrize("dot", [None, pytest.param(DOT, marks=needs_dot)], ids=["own layout", "dot"])


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
    """Without those of the legend."""
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
    assert len(edges_of(plan, boxes_of(plan))) == 3


def named_edges(plan: Plan) -> set[tuple[str, str, bool]]:
    boxes = boxes_of(plan)
    return {(boxes[edge.tail].label, boxes[edge.head].label, edge.after) for edge in edges_of(plan, boxes)}


def test_an_arrow_that_others_imply_is_left_out() -> None:
    steps = [
        make("A", "s", "a"),
        make("B", "s", "b", ("a",)),
        make("C", "s", "c", ("a", "b"), after=("a",)),
        make("D", "s", "d", ("a",), after=("c",)),
    ]
    # What d is made of shows, although the order of things leads there as well.
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
    assert "has to be there first" in texts(root)
    assert "has to be there first" not in texts(read(plan_svg(make_plan([make("A", "s", "a")]))))


def test_what_ran_shows_in_more_than_its_colour() -> None:
    done = {f"{BOARD}/common/kernels/mean.o", f"{BOARD}/common/kernels/pool.o", f"{APPLICATION}/appli/appli.elf"}
    root = read(plan_svg(application_plan(), done))
    ran, partly = box_of(root, f"{APPLICATION}/appli/appli.elf"), box_of(root, f"{BOARD}/common/kernels/mean.o")
    assert boxes_in(root, "ran") == [ran]
    assert boxes_in(root, "partly-ran") == [partly]
    assert len(boxes_in(root, "up-to-date")) == 24
    assert "2 of 9 ran" in texts(partly)
    assert "3 of 55 steps ran" in texts(root)
    marks = {box: len([*box.iter(f"{SVG}circle")]) for box in boxes_in(root)}
    assert {box for box, count in marks.items() if count} == {ran, partly}
    assert len([*partly.iter(f"{SVG}path")]) == 1
    assert [arrow.get("class") for arrow in arrows(root)].count("edge ran") == 1


@pytest.mark.parametrize(("done", "words"), [((), "0 of 55 steps ran"), (None, "55 steps ")])
def test_nothing_is_said_of_a_build_that_was_not(done: Collection[str] | None, words: str) -> None:
    root = read(plan_svg(application_plan(), done))
    assert words in texts(root) + " "
    assert ("up to date" in texts(root)) == (done is not None)
    assert len(boxes_in(root, "planned" if done is None else "up-to-date")) == 26


def test_nothing_comes_from_elsewhere() -> None:
    svg = plan_svg(application_plan(), ())
    assert not re.search(
        r"https?:|url\(|@import|<script|href", svg.replace('xmlns="http://www.w3.org/2000/svg"', "", 1)
    )
    # In a page, its style sheet must not reach out of the picture.
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


@ways
@pytest.mark.parametrize("name", HOSTILE, ids=[f"name {number}" for number in range(len(HOSTILE))])
def test_names_stay_text(name: str, dot: str | None) -> None:
    steps = [
        make(name, name, f"x/{name}"),
        *(compilation(name, f"{name}/{name}{n}.c", (f"x/{name}",)) for n in range(3)),
    ]
    svg = plan_svg(make_plan(steps), {f"x/{name}"}, dot=dot)
    root = read(svg)
    assert svg.encode()
    assert len(boxes_in(root)) == 2
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "style", "rect", "g", "title", "text", "tspan", "circle", "path")
    }
    assert all(line.isprintable() for line in "\n".join(root.itertext()).split("\n"))


@ways
def test_the_same_plan_gives_the_same_picture(dot: str | None) -> None:
    assert plan_svg(application_plan(), (), dot=dot) == plan_svg(application_plan(), (), dot=dot)


@ways
def test_an_empty_plan_has_a_picture(dot: str | None) -> None:
    assert not boxes_in(read(plan_svg(make_plan([]), dot=dot)))


@ways
def test_letters_fit_their_boxes(dot: str | None) -> None:
    root = read(plan_svg(application_plan(), (), dot=dot))
    for box in boxes_in(root):
        width = float(next(box.iter(f"{SVG}rect")).get("width", ""))
        (name,) = [text for text in box.iter(f"{SVG}text") if text.get("class") == "name"]
        # Of fixed width, 0.6 of their height in most fonts.
        assert 20 + len(name.text or "") * 10.5 * 0.605 <= width


@needs_dot
def test_dot_and_our_own_layout_draw_the_same_boxes() -> None:
    plan = application_plan()
    own, with_dot = (read(plan_svg(plan, (), dot=dot)) for dot in (None, DOT))
    assert [tip(box) for box in boxes_in(own)] == [tip(box) for box in boxes_in(with_dot)]
    assert len(arrows(own)) == len(arrows(with_dot)) == len(edges_of(plan, boxes_of(plan)))
    assert ElementTree.tostring(own) != ElementTree.tostring(with_dot)


SIZES, EDGES = [(90.0, 42.0)] * 3, (Edge(0, 1, False), Edge(1, 2, True), Edge(0, 2, False))
GOOD = "\n".join(
    [
        "graph 1 2 4",
        *(f'node {n} 1 {3 - n} 1.25 0.58 "" solid box black lightgrey' for n in range(3)),
        *(f"edge {tail} {head} 4 1 3 1 2.5 1 2 1 1.5 solid black" for tail, head in ((0, 1), (1, 2), (0, 2))),
        "stop",
    ]
)


def stand_in(folder: Path, script: str) -> str:
    path = folder / "dot"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_what_dot_says_is_read(tmp_path: Path) -> None:
    layout = dot_layout(stand_in(tmp_path, f"/bin/cat <<'END'\n{GOOD}\nEND"), SIZES, EDGES)
    assert layout is not None
    assert (layout.width, layout.height) == (144, 288)
    assert layout.centres == ((72, 72), (72, 144), (72, 216))
    assert layout.curves[0] == ((72, 72), (72, 108), (72, 144), (72, 180))


@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        "echo nonsense",
        "echo node 0 1",
        "exec /bin/sleep 60",
        f"/bin/cat <<'END'\n{GOOD.replace('node 2', 'node 7')}\nEND",
        f"/bin/cat <<'END'\n{GOOD.replace('edge 0 2 4', 'edge 0 2 3')}\nEND",
        f"/bin/cat <<'END'\n{GOOD.replace('1.5', 'nan')}\nEND",
        f"/bin/cat <<'END'\n{GOOD.replace('1.5', '1e999')}\nEND",
        f"/bin/cat <<'END'\n{GOOD.replace('edge 0 2', 'edge 0 3')}\nEND",
    ],
)
def test_a_dot_that_fails_is_done_without(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("n6build.plan.graphviz._SECONDS", 1.0)
    dot = stand_in(tmp_path, script)
    assert dot_layout(dot, SIZES, EDGES) is None
    assert plan_svg(application_plan(), dot=dot) == plan_svg(application_plan())


def test_dot_is_told_no_names(tmp_path: Path) -> None:
    told = tmp_path / "told"
    plan_svg(application_plan(), dot=stand_in(tmp_path, f"/bin/cat > '{told}'; exit 1"))
    assert "digraph" in told.read_text()
    assert "firmware" not in told.read_text()


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[Edge]]:
    count = draw(st.integers(1, 25))
    sizes = [(float(draw(st.integers(20, 400))), 42.0) for _ in range(count)]
    pairs = draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=60))
    return sizes, [Edge(tail, head, draw(st.booleans())) for tail, head in sorted(pairs) if tail < head]


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_boxes_stand_below_what_they_need_and_never_on_each_other(
    graph: tuple[list[tuple[float, float]], list[Edge]],
) -> None:
    sizes, edges = graph
    layout = layered(sizes, edges)
    check_places(layout, sizes)
    for edge, curve in zip(edges, layout.curves, strict=True):
        assert layout.centres[edge.tail][1] + 42 < layout.centres[edge.head][1]
        assert curve[0] == pytest.approx((layout.centres[edge.tail][0], layout.centres[edge.tail][1] + 21))
        assert curve[-1] == pytest.approx((layout.centres[edge.head][0], layout.centres[edge.head][1] - 21))
        assert len(curve) % 3 == 1
        assert all(one[1] <= other[1] for one, other in pairwise(curve))


def check_places(layout: Layout, sizes: list[tuple[float, float]]) -> None:
    rows: dict[float, list[tuple[float, float]]] = {}
    for (x, y), (width, _) in zip(layout.centres, sizes, strict=True):
        assert x - width / 2 >= -0.01
        assert x + width / 2 <= layout.width + 0.01
        assert 20 <= y <= layout.height - 20
        rows.setdefault(y, []).append((x - width / 2, x + width / 2))
    for row in rows.values():
        assert all(left[1] + 9.9 < right[0] for left, right in pairwise(sorted(row)))


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
        # Tips end where nobody would read on.
        assert tip(drawn).splitlines()[1:17][: len(outputs)] == outputs[:16]
    edges = edges_of(plan, boxes)
    assert len(arrows(root)) == len(edges) == len({(edge.tail, edge.head) for edge in edges})
    assert reachable(plan, edges) == needed(plan)


def reachable(plan: Plan, edges: Collection[Edge]) -> set[tuple[int, int]]:
    return closure({(edge.tail, edge.head) for edge in edges})


def needed(plan: Plan) -> set[tuple[int, int]]:
    """The same of boxes, without leaving anything out."""
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
    """2,000 steps."""
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
