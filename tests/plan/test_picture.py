"""The picture of a plan: boxes of related steps, arrows, and valid XML.

Names from outside do not break the XML.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from pathlib import Path
from random import Random
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.console import printable
from n6build.engine.closure import library_code
from n6build.engine.inspect import show_plan
from n6build.engine.ledger import read_ledger
from n6build.engine.perform import Site
from n6build.engine.picture import MOST_BOXES, Edge, NoPictureError, boxes_of, edges_of, plan_svg
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step
from n6build.steps.build_report import plan_picture

from plan.plan_samples import APPLICATION, BOARD, application_plan, compilation, link, make, svg_of

SVG = "{http://www.w3.org/2000/svg}"


def read(svg: str) -> Element:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


def boxes_in(root: Element, state: str = "") -> list[Element]:
    return [group for group in groups(root, "node") if not state or group.get("class") == f"node {state}"]


def arrows(root: Element) -> list[Element]:
    return groups(root, "edge")


def groups(root: Element, kind: str) -> list[Element]:
    """Return the boxes or arrows in the order of the plan.

    Graphviz numbers them in this order, and draws them in another.
    """
    found = [group for group in root.iter(f"{SVG}g") if group.get("class", "").split()[:1] == [kind]]
    return sorted(found, key=lambda group: int(group.get("id", "").removeprefix(kind)))


def texts(element: Element) -> str:
    return " ".join("".join(text.itertext()) for text in element.iter(f"{SVG}text"))


def tip(box: Element) -> str:
    return box.findtext(f"{SVG}title") or ""


def box_of(root: Element, output: str) -> Element:
    (found,) = [box for box in boxes_in(root) if output in tip(box).splitlines()]
    return found


def test_compilations_of_a_folder_are_one_box() -> None:
    plan = application_plan()
    boxes = boxes_of(plan)
    assert len(plan.steps) == 55
    assert len(boxes) == 26
    root = read(svg_of(plan))
    assert texts(box_of(root, f"{BOARD}/common/kernels/mean.o")) == "Compile, 9 files firmware/kernels"
    assert texts(box_of(root, f"{BOARD}/include/n6_soc.h")) == "Header, 2 files n6_soc.h, n6_board.h"
    assert texts(box_of(root, f"{APPLICATION}/memory_plan.json")) == "Plan, 3 files memory_plan.json"
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
    root = read(svg_of(plan))
    assert sorted(arrow.get("class", "") for arrow in arrows(root)) == ["edge", "edge after"]
    assert "Dashed arrow: must exist first" in texts(root)


def test_what_ran_shows_in_more_than_its_colour() -> None:
    done = {f"{BOARD}/common/kernels/mean.o", f"{BOARD}/common/kernels/pool.o", f"{APPLICATION}/appli/appli.elf"}
    root = read(svg_of(application_plan(), done))
    ran, partly = box_of(root, f"{APPLICATION}/appli/appli.elf"), box_of(root, f"{BOARD}/common/kernels/mean.o")
    assert boxes_in(root, "ran") == [ran]
    assert boxes_in(root, "partly-ran") == [partly]
    assert len(boxes_in(root, "up-to-date")) == 24
    assert "2 of 9 ran" in texts(partly)
    assert "3 of 55 steps ran" in texts(root)
    assert texts(ran) == "Link, 2 files, ran appli.elf"
    assert [box for box in boxes_in(root) if "ran" in texts(box).split()] == [partly, ran]
    assert [arrow.get("class") for arrow in arrows(root)].count("edge ran") == 1


@pytest.mark.parametrize(("done", "words"), [((), "0 of 55 steps ran"), (None, "55 steps.")])
def test_nothing_is_said_of_a_build_that_was_not(done: Collection[str] | None, words: str) -> None:
    root = read(svg_of(application_plan(), done))
    assert words in texts(root)
    state = "planned" if done is None else "up to date"
    assert len(boxes_in(root, state.replace(" ", "-"))) == 26
    assert all(tip(box).split(": ")[1].startswith(f"{state}\n") for box in boxes_in(root))


def test_nothing_comes_from_elsewhere() -> None:
    svg = svg_of(application_plan(), ())
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
    "\U0001f98a\\",
    "\\N\\l\\",
]


@pytest.mark.parametrize("name", HOSTILE, ids=[f"name {number}" for number in range(len(HOSTILE))])
def test_names_stay_text(name: str) -> None:
    steps = [
        make(name, name, f"x/{name}"),
        *(compilation(name, f"{name}/{name}{n}.c", (f"x/{name}",)) for n in range(3)),
    ]
    svg = svg_of(make_plan(steps), {f"x/{name}"})
    root = read(svg)
    assert svg.encode()
    assert len(boxes_in(root)) == 2
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "style", "g", "title", "text", "path", "polygon")
    }
    assert all(line.isprintable() for line in "\n".join(root.itertext()).split("\n"))
    labels = [text.text or "" for box in boxes_in(root) for text in box.iter(f"{SVG}text")]
    assert len(labels) == 4
    assert labels[0] == f"{printable(name)}, ran"


def test_the_same_plan_gives_the_same_picture() -> None:
    assert svg_of(application_plan(), ()) == svg_of(application_plan(), ())


def test_an_empty_plan_has_a_picture() -> None:
    assert not boxes_in(read(svg_of(make_plan([]))))


def test_letters_fit_their_boxes() -> None:
    for box in boxes_in(read(svg_of(application_plan(), ()))):
        (outline,) = box.iter(f"{SVG}path")
        across = [float(x) for x in re.findall(r"(-?[\d.]+),", outline.get("d", ""))]
        _, name = box.iter(f"{SVG}text")
        # The font has a fixed width, 0.6 of the height in most fonts.
        assert 20 + len(name.text or "") * 10.5 * 0.605 <= max(across) - min(across) + 0.7


def test_graphviz_gets_every_box_and_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "dot").write_text(f"#!/bin/sh\nexec /bin/cat > '{tmp_path}/graph'\n")
    (tmp_path / "dot").chmod(0o755)
    plan = application_plan()
    with pytest.raises(NoPictureError, match="program dot, which should be Graphviz's, wrote no SVG"):
        plan_svg(plan)
    graph = (tmp_path / "graph").read_text()
    pairs = re.findall(r"n(\d+) -> n(\d+) ", graph)
    assert [(int(tail), int(head)) for tail, head in pairs] == [(e.tail, e.head) for e in edges_of(boxes_of(plan))]
    assert [name for _, name in re.findall(r'(?m)^n(\d+) \[.*\\n(.*)"\]$', graph)] == [
        box.label for box in boxes_of(plan)
    ]


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


@given(plans())
@settings(max_examples=200, deadline=None)
def test_every_plan_has_every_step_once_and_arrows_for_all_needs(plan: Plan) -> None:
    boxes = boxes_of(plan)
    assert sorted(step.name for box in boxes for step in box.steps) == sorted(step.name for step in plan.steps)
    assert reachable(plan, edges_of(boxes)) == needed(plan)


# Each example starts Graphviz.
@given(plans(), st.data())
@settings(max_examples=20, deadline=None)
def test_every_plan_has_a_picture_with_every_box_and_arrow(plan: Plan, data: st.DataObject) -> None:
    names = [step.name for step in plan.steps]
    root = read(svg_of(plan, data.draw(st.none() | st.sets(st.sampled_from(names)) if names else st.none())))
    boxes = boxes_of(plan)
    assert len(boxes_in(root)) == len(boxes)
    for box, drawn in zip(boxes, boxes_in(root), strict=True):
        outputs = [output for step in box.steps for output in step.outputs]
        # A tip names at most 16 outputs, since readers stop there.
        assert tip(drawn).splitlines()[1:17][: len(outputs)] == outputs[:16]
    edges = edges_of(boxes)
    assert len(arrows(root)) == len(edges) == len({(edge.tail, edge.head) for edge in edges})


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


def many(shape: str, count: int) -> Plan:
    """Return a plan with this number of steps."""
    if shape == "files":
        objects = [compilation(f"build/{n % 40}", f"src/{n % 40}/{n}.c", ("h0",)) for n in range(count - 2)]
        return make_plan(
            [make("Header", "header", "h0"), *objects, link("a.elf", [step.name for step in objects], ("l",))]
        )
    near = {"chain": 1, "near": 40, "far": count}[shape]
    chance = Random(1)
    needs = [{max(0, n - chance.randint(1, near)) for _ in range(3) if n} for n in range(count)]
    return make_plan(
        make("Make", "any", f"f{n}/o", tuple(f"f{each}/o" for each in sorted(needs[n]))) for n in range(count)
    )


@pytest.mark.parametrize("shape", ["chain", "near", "far"])
def test_a_plan_with_too_many_boxes_has_no_picture(shape: str) -> None:
    with pytest.raises(NoPictureError, match="the plan has 2000 boxes, and at most 300 are drawn"):
        plan_svg(many(shape, 2000))


def test_thousands_of_steps_in_few_boxes_have_a_picture() -> None:
    assert len(boxes_in(read(svg_of(many("files", 2000), ())))) == 42


# In every run: test_every_plan_has_a_picture_with_every_box_and_arrow.
@pytest.mark.slow
@pytest.mark.parametrize("shape", ["chain", "near", "far"])
def test_as_many_boxes_as_are_allowed_have_a_picture(shape: str) -> None:
    assert len(boxes_in(read(svg_of(many(shape, MOST_BOXES))))) == MOST_BOXES


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (None, "program dot is not installed; install package graphviz"),
        ("#!/bin/sh\nexit 1\n", "Graphviz failed: .* exit status 1"),
        ("", "Graphviz failed: .*Exec format error"),
    ],
    ids=["missing", "fails", "no program"],
)
def test_without_graphviz_the_reason_is_given(
    program: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if program is not None:
        (tmp_path / "dot").write_text(program)
        (tmp_path / "dot").chmod(0o755)
    with pytest.raises(NoPictureError, match=reason):
        plan_svg(application_plan())


def test_target_plan_and_report_give_the_reason_for_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    plan = make_plan([make("Make", "any", "build/a")])
    site = Site(tmp_path, tmp_path / "build", library_code(), read_ledger(tmp_path / "build"), {}, plan=plan)
    site.build.mkdir()
    (site.build / "plan.svg").write_text("of an earlier plan")
    show_plan(plan, ["build/a"], site, verbose=False)
    reason = "program dot is not installed; install package graphviz"
    assert capsys.readouterr().out.endswith(f"Without plan.svg: {reason}\n")
    assert [path.name for path in site.build.iterdir()] == ["plan.json"]
    assert plan_picture(site) == f"<p>Without a picture: {reason}</p>"


def test_target_plan_writes_the_picture_of_the_goals(tmp_path: Path) -> None:
    plan = make_plan([make("Make", "any", "build/a"), make("Make", "any", "build/b")])
    site = Site(tmp_path, tmp_path / "build", library_code(), read_ledger(tmp_path / "build"), {}, plan=plan)
    expected = svg_of(make_plan(plan.steps[:1]))
    show_plan(plan, ["build/a"], site, verbose=False)
    assert (site.build / "plan.svg").read_text() == expected
