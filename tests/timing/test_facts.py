"""The table of measurements, and reports of mistakes in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from n6build.base.errors import N6Error
from n6build.judge.timing.facts import MEASUREMENTS, contradictions, read_measurements
from n6build.judge.timing.model import MODEL, read_model
from timing_layers import layers_of

FACTS = read_measurements()


def test_every_measurement_has_an_id_of_its_own() -> None:
    ids = [row.id for row in FACTS.networks] + [epoch.id for table in FACTS.tables for epoch in table.epochs]
    assert len(ids) == len(set(ids))
    assert len(FACTS.networks) > 100


@pytest.mark.parametrize(
    ("wanted", "million", "layers"),
    [
        ("A6", 568.74, 28),
        ("A16", 300.77, 53),
        ("A24", 483.15, 21),
        ("A26", 2669.04, 9),
        ("A34", 68.64, 28),
        ("A27", 363.7, 63),
    ],
)
def test_layers_of_known_networks_have_the_macs_that_others_count(wanted: str, million: float, layers: int) -> None:
    network = next(each for each in FACTS.networks if each.id == wanted)
    assert network.layers is not None
    found = layers_of(network.layers)
    assert sum(layer.macs for layer in found) / 1e6 == pytest.approx(million, rel=1e-4)
    assert len(found) == layers


def test_weights_of_known_networks_are_what_the_compiled_ones_have() -> None:
    """Weights that belong to no layer, scales and padding are at most a third."""
    for network in FACTS.networks:
        if network.layers is not None and network.weights_kib:
            kib = sum(layer.weights for layer in layers_of(network.layers)) / 1024
            assert 0.65 < kib / network.weights_kib < 1.05, network.id


def test_measurements_that_contradict_each_other_are_found() -> None:
    (found,) = contradictions(FACTS)
    assert found.ids == ("B45", "B45b")
    assert found.spread == pytest.approx(175.4, abs=0.1)


def test_the_same_network_with_and_without_the_epoch_controller_is_no_contradiction() -> None:
    named = {id for each in contradictions(FACTS) for id in each.ids}
    assert not {"B1b", "B2"} & named


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = MEASUREMENTS.read_text()
    assert old in text
    path = tmp_path / "timings.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "id", "what"),
    [
        ("source: S1, clocks: zoo", "source: S99, clocks: zoo", "N6-TIME-001", "'S99' does not exist in sources"),
        ("source: S1, clocks: zoo", "source: S1, clocks: zoom", "N6-TIME-001", "'zoom' does not exist in clocks"),
        ("input: [224, 224, 3]", "input: [224, 224]", "N6-TIME-001", "an input has a height, a width and channels"),
        ("ms: 2.83", "ms: 0", "N6-YAML-004", "outside"),
        ("ms: 2.83", "ms: .inf", "N6-YAML-004", "outside"),
        ("sure: stated, compiler", "sure: perhaps, compiler", "N6-YAML-004", "invalid value 'perhaps'"),
    ],
)
def test_a_mistake_in_a_row_is_named_with_its_line(tmp_path: Path, old: str, new: str, id: str, what: str) -> None:
    with pytest.raises(N6Error, match=id) as caught:
        read_measurements(changed(tmp_path, old, new))
    assert what in caught.value.what
    assert re.search(r"timings\.yaml:\d+", str(caught.value.where))


@pytest.mark.parametrize("value", ["-1", "0", "1e30", "2000000000000"])
def test_parameters_that_no_fit_makes_are_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "model.yaml"
    text = re.sub(r"(overhead_cycles: \{low: \d+, value: )\d+", rf"\g<1>{value}", MODEL.read_text(), count=1)
    if value == "0":
        text = re.sub(r"(elements_per_cycle: \{low: )1", r"\g<1>0", MODEL.read_text(), count=1)
    path.write_text(text)
    with pytest.raises(N6Error) as caught:
        read_model(path)
    assert caught.value.id == "N6-TIME-002" if value != "1e30" else caught.value.id.startswith(("N6-TIME", "N6-YAML"))


def test_the_table_is_of_facts_and_says_where_each_is_from() -> None:
    document = yaml.safe_load(MEASUREMENTS.read_text())
    assert all(source["what"] and source["where"] for source in document["sources"].values())
    used = {
        row["source"]
        for group in ("networks", "tables", "blocks", "operators", "cpu_layers")
        for row in document[group]
    }
    assert used <= document["sources"].keys()
