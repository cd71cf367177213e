"""The picture of a network's buffers over time."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.buffer_lives import BufferLife, buffer_lives
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.tell.content import Part
from n6build.tell.html import report_html
from n6build.tell.memory_picture import MOST_EPOCHS, drawn, fullest_epoch, in_use, memory_svg
from samples import sample

from report.report_samples import REPORT

SVG = "{http://www.w3.org/2000/svg}"
POOLS = (Part("pool npuRAM3", "pool", 0x34200000, 0x1000), Part("pool npuRAM4", "pool", 0x34201000, 0x1000))
EXTERNAL = Part("pool hyperRAM", "pool", 0x90000000, 0x10000)
INPUT = BufferLife("Input_0_out_0", "input", 0x34200000, 0x400, 0, 1)
ACROSS = BufferLife("Conv2D_0_out_0", "activation", 0x34200400, 0x1000, 1, 2)
IN_PLACE = BufferLife("Add_1_out_0", "output", 0x34200400, 0x1000, 2, 3)
OUTSIDE = BufferLife("far", "scratch", 0x90000000, 0x20, 2, 2)
LIVES = (INPUT, ACROSS, IN_PLACE)


def buffers_in(svg: str) -> dict[str, ElementTree.Element]:
    """Return the buffers' rectangles by the first line of their tips."""
    tipped = [rect for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    return {str(rect.findtext(f"{SVG}title")).split("\n")[0]: rect for rect in tipped}


def number(rect: ElementTree.Element, name: str) -> float:
    return float(rect.attrib[name])


def described(document: object, folder: Path) -> NetworkArtifacts:
    (folder / "network_c_info.json").write_text(json.dumps(document))
    return cast("NetworkArtifacts", SimpleNamespace(source=folder / "network.c", name="network"))


def a_document(**changes: object) -> dict[str, Any]:
    buffer = {"id": 1, "name": "a", "is_param": False, "mpool_id": 1, "offset_start": 64, "size_bytes": 32}
    buffer |= {"epochs": {"start": 1, "end": 2}} | changes
    graph = {"inputs": [], "outputs": [1], "nodes": [{"scratchs": []}]}
    return {"memory_pools": [{"id": 1, "address": "874512384"}], "buffers": [buffer], "graphs": [graph]}


def test_a_buffer_is_as_wide_as_its_life_and_as_high_as_its_size() -> None:
    shown = buffers_in(memory_svg(LIVES, POOLS))
    given, across, after = (shown[life.name] for life in LIVES)
    assert number(across, "width") == 2 * number(given, "width") / 2 == number(after, "width")
    assert number(across, "height") == pytest.approx(4 * number(given, "height"), abs=0.3)
    assert number(across, "x") == number(given, "x") + number(given, "width") / 2
    # Higher addresses are further up, and equal addresses are at one height.
    assert number(across, "y") + number(across, "height") == pytest.approx(number(given, "y"), abs=0.2)
    assert (number(after, "y"), number(after, "height")) == (number(across, "y"), number(across, "height"))


def test_tips_say_name_bytes_address_and_epochs() -> None:
    tips = [title.text for title in ElementTree.fromstring(memory_svg(LIVES, POOLS)).iter(f"{SVG}title")]
    assert "Conv2D_0_out_0\n4,096 bytes at 0x34200400\nepochs 1 to 2" in tips
    assert "epoch 2\n4,096 bytes in use" in tips


def test_memory_far_away_is_a_band_of_its_own_and_a_border_of_pools_a_line() -> None:
    root = ElementTree.fromstring(memory_svg((*LIVES, OUTSIDE), (*POOLS, EXTERNAL)))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"0x34200000", "0x34201000", "0x34201400", "0x90000000"} <= set(texts)
    assert len([line for line in root.iter(f"{SVG}line") if line.attrib["class"] == "border"]) == 1
    shown = buffers_in(memory_svg((*LIVES, OUTSIDE), (*POOLS, EXTERNAL)))
    assert number(shown["far"], "y") < number(shown["Conv2D_0_out_0"], "y")
    assert number(shown["far"], "height") >= 1.5


def test_what_two_buffers_share_counts_once() -> None:
    assert in_use(LIVES) == [0x400, 0x1400, 0x1000, 0x1000]
    assert fullest_epoch(LIVES) == 1
    assert in_use([replace(INPUT, first=5, last=6)]) == [0, 0, 0, 0, 0, 0x400, 0x400]


def test_no_buffers_no_picture_and_no_more_epochs_than_a_browser_can_take() -> None:
    assert memory_svg((), POOLS) == ""
    assert memory_svg([replace(INPUT, bytes=0)], POOLS) == ""
    assert drawn([replace(INPUT, last=MOST_EPOCHS)]) == []
    assert "buffers over time" not in report_html(REPORT)


def test_the_page_has_the_picture_and_the_table_of_the_fullest_epoch() -> None:
    network = replace(REPORT.networks[0], buffers=(*LIVES, replace(OUTSIDE, name="<b>&")), pools=(*POOLS, EXTERNAL))
    page = report_html(replace(REPORT, networks=(network,)))
    assert "4 buffers over time" in page and 'class="n6-memory"' in page
    assert "2 buffers in use in epoch 1, the fullest" in page
    assert "<b>&" not in page and "&lt;b&gt;&amp;" in page


def test_lives_are_read_from_c_info(tmp_path: Path) -> None:
    assert buffer_lives(described(a_document(), tmp_path)) == (BufferLife("a", "output", 0x34200000 + 64, 32, 1, 2),)
    for left_out in ({"is_param": True}, {"mpool_id": 9}, {"epochs": None}, {"epochs": {"start": 2, "end": 1}}):
        assert buffer_lives(described(a_document(**left_out), tmp_path)) == ()
    assert buffer_lives(described(a_document(epochs={"start": 1, "end": 1 << 60}), tmp_path)) == ()


@pytest.mark.parametrize("wrong", [{"name": 5}, {"size_bytes": -1}, {"epochs": {"start": "x", "end": 2}}])
def test_a_c_info_that_contradicts_its_schema_is_an_error_with_its_place(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    with pytest.raises(N6Error, match="N6-NET-020"):
        buffer_lives(described(a_document(**wrong), tmp_path))


def test_without_c_info_nothing_is_known(tmp_path: Path) -> None:
    assert buffer_lives(cast("NetworkArtifacts", SimpleNamespace(source=tmp_path / "n.c", name="n"))) == ()


def test_networks_of_st_s_compiler_are_drawn_too(tmp_path: Path) -> None:
    text = gzip.decompress(sample("c_info/core-3.0-mobilenet_v2.json.gz").read_bytes())
    lives = buffer_lives(described(json.loads(text), tmp_path))
    assert len(lives) == 59 and [life.role for life in lives].count("input") == 1
    pool = Part("pool npuRAM5", "pool", 0x342E0000, 0x70000)
    assert max(in_use(lives)) == 245_760
    assert len(buffers_in(memory_svg(lives, [pool]))) > 59
