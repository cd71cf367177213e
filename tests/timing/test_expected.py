"""Expected times of epochs and networks: bounds, ranges and unknown values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.hardware.boards import load_board
from n6build.judge.timing.classes import class_work
from n6build.judge.timing.conditions import Conditions, all_conditions, conditions_of
from n6build.judge.timing.expected import Counted, EpochTime, expected_time
from n6build.judge.timing.facts import read_measurements
from n6build.judge.timing.model import Span, read_model
from n6build.judge.timing.of_network import EpochWork, NetworkWork
from n6build.judge.timing.timing_table import board_lines, change_lines, rows_text, time_lines, whole_text
from n6build.judge.timing.what_if import changes
from timing_layers import layers_of

MODEL = read_model()
DK = Conditions("dk", 800_000_000, 1_000_000_000, 200_000_000)
BOARD = load_board("nucleo-n657")
CONV = EpochWork(1, "Conv", "NPU", 1_000_000, 0, (0, 0), 0, None)


def network(*epochs: EpochWork, problem: str = "") -> NetworkWork:
    return NetworkWork(epochs, problem, 0, 0)


def only(work: EpochWork, at: Conditions = DK) -> EpochTime:
    (found,) = expected_time(network(work), MODEL, at).epochs
    return found


def test_a_million_elements_take_a_millisecond_at_a_gigahertz() -> None:
    found = only(CONV)
    assert found.npu == pytest.approx(1.0)
    assert found.bound == "stream"
    assert found.low < found.ms < (found.high or 0)


@pytest.mark.parametrize(("nor", "ms"), [(200_000_000, 3.21), (50_000_000, 12.84)])
def test_weights_come_at_the_rate_of_the_flash(nor: int, ms: float) -> None:
    """The epoch reads 1,284,000 bytes.

    3.226 and 12.92 ms were measured, with a kind of overhead.
    """
    found = only(replace(CONV, elements=1000, flash=(1_284_000, 1_284_000)), replace(DK, nor_hz=nor))
    assert found.flash == pytest.approx(ms)
    assert found.bound == "flash"


def test_without_the_epoch_controller_the_cpu_starts_each_epoch() -> None:
    by_cpu, alone = only(replace(CONV, starts="CPU")), only(CONV)
    assert by_cpu.ms - alone.ms == pytest.approx(MODEL.by_cpu.value / 0.8e6)
    assert only(replace(CONV, elements=100, starts="CPU")).bound == "overhead"


def test_what_is_read_again_makes_the_range_as_wide_as_what_the_cache_may_answer() -> None:
    found = only(replace(CONV, elements=1000, flash=(400_000, 4_000_000)))
    assert found.low < 1.05
    assert (found.high or 0) > 10
    assert "cache" in found.notes[0]


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (replace(CONV, elements=None), "its data transfers are unknown"),
        (replace(CONV, psram=1000), "PSRAM"),
        (replace(CONV, on="both", psram=1000), "PSRAM"),
    ],
)
def test_what_is_not_known_gives_a_lower_bound_and_words(work: EpochWork, said: str) -> None:
    time = expected_time(network(CONV, replace(work, number=7)), MODEL, replace(DK, psram_hz=100_000_000))
    assert time.high is None
    assert time.low > 0
    assert said in next(each for each in time.notes if each.startswith("epoch 7: "))
    assert whole_text(time) == f"at least {time.low:.3f} ms"
    assert any("or more" in line for line in time_lines(time))


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (replace(CONV, elements=None, on="both"), "the CPU's share of its work was not measured"),
        (EpochWork(1, "Einsum", "CPU", 100, 0, (0, 0), 0, None), "it was not measured on the CPU"),
        (EpochWork(1, "Softmax", "CPU", None, 0, (0, 0), 0, None), "its size is unknown"),
        (EpochWork(1, "Add", "CPU", 100, 0, (0, 0), 0, None, own=True), "instructions are not counted"),
        (
            EpochWork(1, "Conv2D", "CPU", 100, 10, (10**6, 10**6), 0, None, own=True),
            "the CPU reads its weights from the flash",
        ),
    ],
)
def test_work_of_the_cpu_that_was_not_measured_gives_a_wide_range_and_words(work: EpochWork, said: str) -> None:
    """The range has a center; it is never a lower bound only."""
    time = expected_time(network(CONV, replace(work, number=7)), MODEL, DK)
    found = time.epochs[1]
    assert found.high is not None
    assert 0 < found.low < found.ms < found.high
    assert found.high / found.low > 3
    (note,) = (each for each in time.notes if each.startswith("epoch 7: "))
    assert said in note
    assert "at least" not in whole_text(time)
    assert not any("or more" in line for line in time_lines(time))


def test_a_shared_epoch_takes_the_measured_cycles_of_such_epochs() -> None:
    """The shortest one takes 29,000 cycles of the CPU, the longest 659,000."""
    found = only(replace(CONV, elements=None, on="both"))
    assert (found.low, found.high) == pytest.approx((29_000 / 800e3, 659_000 / 800e3))
    assert found.bound == "CPU"


def test_a_run_measures_the_share_of_the_cpu() -> None:
    """Both parts add up; the note about other networks is gone."""
    counted = Counted({1: 800_000}, Span(1.0, 1.5, 2.0))
    alone = only(CONV)
    (found,) = expected_time(network(replace(CONV, on="both")), MODEL, DK, counted).epochs
    assert (found.low, found.ms) == pytest.approx((alone.low + 1.0, alone.ms + 1.5))
    assert found.high == pytest.approx((alone.high or 0) + 2.0)
    assert found.notes == ()


@pytest.mark.parametrize("macs", [10, 10**9])
def test_an_epoch_of_the_cpu_takes_at_least_the_time_of_its_weights(macs: int) -> None:
    """1,000,000 bytes at 0.4 bytes a nanosecond give the lower bound.

    If the MACs alone take longer, they give it.
    """
    found = only(EpochWork(1, "Conv2D", "CPU", 100, macs, (1_000_000, 1_000_000), 0, None, own=True))
    by_macs = macs * MODEL.cpu_macs["conv"].low / 0.8e6
    assert found.flash == pytest.approx(2.5)
    assert found.low == pytest.approx(max(2.5, by_macs))
    assert found.bound == ("flash" if macs == 10 else "CPU")
    assert (found.high or 0) > found.ms > found.low


def test_activations_in_psram_take_at_least_the_time_of_its_line() -> None:
    found = only(replace(CONV, elements=1000, psram=4_000_000), replace(DK, psram_hz=100_000_000))
    assert found.low == pytest.approx(10.0)
    assert found.bound == "PSRAM"


def test_instructions_of_a_run_give_a_range() -> None:
    own = EpochWork(3, "Add", "CPU", 100, 0, (0, 0), 0, None, own=True)
    counted = Counted({3: 800_000}, Span(1.0, 1.5, 2.0))
    for at, factor in ((DK, 1), (replace(DK, cpu_hz=64_000_000), 12.5)):
        (found,) = expected_time(network(own), MODEL, at, counted).epochs
        assert (found.low, found.ms, found.high) == pytest.approx((1.0 * factor, 1.5 * factor, 2.0 * factor))
    assert "waits for memory" in expected_time(network(own), MODEL, DK, counted).notes[0]


def test_the_operators_of_st_s_library_have_measured_cycles_an_element() -> None:
    found = only(EpochWork(1, "DequantizeLinear", "CPU", 62_720, 0, (0, 0), 0, None))
    assert found.low < 443_761 / 800e3 < (found.high or 0)


def test_clocks_that_nothing_was_measured_at_make_the_range_wider() -> None:
    slow = replace(DK, cpu_hz=64_000_000, npu_hz=64_000_000)
    near, far = expected_time(network(CONV), MODEL, DK), expected_time(network(CONV), MODEL, slow)
    assert (far.high or 0) / far.ms > (near.high or 0) / near.ms
    assert far.low / far.ms < near.low / near.ms
    assert "there are no measurements at these clocks" in far.notes[0]


def test_contradicting_measurements_are_said_and_make_the_range_wider() -> None:
    doubted = replace(MODEL, contradictions=("net (A1 and A2) by a factor of 3.0",))
    near, far = expected_time(network(CONV), MODEL, DK), expected_time(network(CONV), doubted, DK)
    assert (far.high or 0) > (near.high or 0)
    assert "net (A1 and A2) by a factor of 3.0" in far.notes[0]


def test_a_network_without_epochs_has_no_upper_bound() -> None:
    time = expected_time(network(problem="net.h: it is damaged"), MODEL, DK)
    assert time.high is None
    assert "net.h: it is damaged" in time.notes
    assert time_lines(time)


EPOCHS = st.builds(
    EpochWork,
    st.integers(0, 100),
    st.sampled_from(["Conv", "Softmax", "", "Add Mul"]),
    st.sampled_from(["NPU", "CPU", "both"]),
    st.none() | st.integers(1, 1 << 40),
    st.integers(0, 1 << 40),
    st.tuples(st.integers(0, 1 << 30), st.integers(0, 1 << 30)).map(lambda pair: (min(pair), max(pair))),
    st.integers(0, 1 << 30),
    st.sampled_from(["CPU", "controller", None]),
    st.booleans(),
)


@given(st.lists(EPOCHS, max_size=5), st.sampled_from(["", *BOARD.soc.clock_profiles]))
def test_any_network_is_told_with_a_range_that_holds_it(epochs: list[EpochWork], clock: str) -> None:
    at = conditions_of(BOARD, clock)
    time = expected_time(network(*epochs), MODEL, at)
    spans = [(each.low, each.ms, each.high) for each in time.epochs] + [(time.low, time.ms, time.high)]
    for low, middle, high in spans:
        assert low >= 0
        assert high is None or low <= middle * (1 + 1e-9) <= high * (1 + 2e-9)
    assert all(len(line) < 260 for line in time_lines(time)[:3])
    change_lines(changes(network(*epochs), MODEL, BOARD, at))


def test_the_clocks_are_those_of_the_board() -> None:
    own, *others = all_conditions(BOARD)
    assert own.name == BOARD.clock.name
    assert own.nor_bytes_per_ns == pytest.approx(0.1)
    assert {each.name for each in others} >= {"hsi", "overdrive"}


@pytest.mark.parametrize(
    ("clock", "flash", "note"),
    [
        ("", "200", "runs at 50 MHz as the board is described, not at 200 MHz"),
    ],
)
def test_a_clock_that_the_board_cannot_have_is_said(clock: str, flash: str, note: str) -> None:
    at = conditions_of(BOARD, clock, flash)
    assert note in at.notes[0]
    assert at.notes[0] in expected_time(network(CONV), MODEL, at).notes


def test_a_board_that_cannot_raise_its_supply_has_no_overdrive() -> None:
    fixed = replace(BOARD, smps_overdrive=None)
    assert "cannot raise the supply" in conditions_of(fixed, "overdrive").notes[0]
    assert "overdrive" not in {each.name for each in all_conditions(fixed)}


@pytest.mark.parametrize(
    ("clock", "flash", "id"),
    [
        ("fast", "", "N6-BOARD-003"),
        ("600/800", "", "N6-BOARD-003"),
        ("", "x", "N6-TIME-003"),
        ("", "0", "N6-TIME-003"),
        ("", "-5", "N6-TIME-003"),
    ],
)
def test_what_is_no_clock_is_an_error(clock: str, flash: str, id: str) -> None:
    with pytest.raises(N6Error, match=id):
        conditions_of(BOARD, clock, flash)


def test_the_change_that_helps_most_comes_first_with_its_range() -> None:
    epochs = (
        replace(CONV, number=1, starts="CPU"),
        replace(CONV, number=12, elements=1000, flash=(4_000_000, 4_000_000), starts="CPU"),
    )
    work = NetworkWork(epochs, "", 0, 4_000_000)
    at = conditions_of(BOARD, "nominal")
    found = changes(work, MODEL, BOARD, at)
    gains = [each.ms for each in found]
    assert gains == sorted(gains, reverse=True)
    assert all(each.low <= each.ms <= (each.high or 0) for each in found)
    said = {each.what: each.ms for each in found}
    assert said["weights of epoch 12 in AXISRAM (3906 KiB)"] == pytest.approx(40.0, abs=0.2)
    assert any("NOR at 200 MHz" in what for what in said)
    assert change_lines(found)[1].lstrip().startswith("-")


def test_epochs_of_a_blob_are_told_together() -> None:
    time = expected_time(network(replace(CONV, number=2), replace(CONV, number=4)), MODEL, DK)
    assert rows_text(time, 2, 4) != rows_text(time, 2, 3)
    assert rows_text(time, 9, 9) == ""


def test_boards_are_a_line_each() -> None:
    time = expected_time(network(CONV), MODEL, DK)
    assert [line.split()[0] for line in board_lines([("one", time), ("two", time)])] == ["one", "two"]


def test_st_s_estimate_stands_beside_with_how_wrong_it_has_been() -> None:
    time = expected_time(NetworkWork((CONV,), "", 2_000_000, 0), MODEL, DK)
    assert time.estimate == pytest.approx(2.0)
    assert any("ST's compiler expects 2.000 ms" in line for line in time_lines(time))


def test_layers_that_run_on_the_cpu_are_told_as_they_would_be_on_the_npu() -> None:
    """MobileNetV2 takes 21.08 ms at these clocks.

    The expectation comes from the model that was fitted to such networks.
    """
    facts = read_measurements()
    row = next(each for each in facts.networks if each.id == "A16")
    assert row.layers is not None
    layers = layers_of(row.layers)
    scale = (row.weights_kib or 0) * 1024 / sum(layer.weights for layer in layers)
    epochs = [
        EpochWork(
            number,
            "DepthwiseConv2D" if layer.depthwise else "Conv2D",
            "CPU",
            max(layer.elements_in, layer.elements_out),
            layer.macs,
            (round(layer.weights * scale),) * 2,
            0,
            None,
            own=True,
            made=layer.elements_out,
        )
        for number, layer in enumerate(layers)
    ]
    found = expected_time(network(*epochs), MODEL, DK).on_npu
    assert found is not None
    assert found.value == pytest.approx(21.08, rel=0.1)
    assert found.low < 21.08 < found.high
    assert expected_time(network(CONV), MODEL, DK).on_npu is None


def test_operators_beside_layers_take_their_own_time_on_the_npu() -> None:
    """A pass takes one NPU cycle an element, a Softmax 65 CPU cycles."""
    conv = EpochWork(1, "Conv2D", "CPU", 1000, 10**6, (0, 0), 0, None, own=True, made=1000)
    before = expected_time(network(conv), MODEL, DK).on_npu
    assert before is not None
    times = {}
    for kind in ("Logistic", "Add", "Softmax", "ResizeBilinear"):
        other = replace(conv, kind=kind, macs=0, made=800_000)
        after = expected_time(network(conv, other), MODEL, DK).on_npu
        assert after is not None
        times[kind] = after.value - before.value
        assert after.low < after.value < after.high
    assert times["Logistic"] == pytest.approx(0.8)
    assert times["Add"] == 0
    assert times["Softmax"] == pytest.approx(65.42)
    assert times["ResizeBilinear"] == pytest.approx(MODEL.classes.cycles.moved.value)


@pytest.mark.parametrize(
    ("kind", "macs", "ms"), [("DepthwiseConv2D", 110_592, 0.042), ("DepthwiseConv2D", 110_592, 0.05)]
)
def test_a_network_of_one_small_layer_takes_the_start_of_its_blob_too(kind: str, macs: int, ms: float) -> None:
    """A depthwise layer of 64x64x3 took 42 and 50 microseconds at these clocks."""
    layer = EpochWork(1, kind, "CPU", 12_288, macs, (39, 39), 0, None, own=True, made=12_288)
    found = expected_time(network(layer), MODEL, DK).on_npu
    assert found is not None
    assert found.low < ms < found.high
    assert found.value == pytest.approx(ms, rel=0.2)


def test_the_copies_of_a_concatenation_count_once() -> None:
    conv = EpochWork(1, "Conv2D", "CPU", 1000, 10**6, (0, 0), 0, None, own=True, made=1000)
    copy = replace(conv, kind="Concatenation", macs=0, made=500)
    assert class_work((conv, copy, copy, copy), 170).passes == 500
    assert class_work((copy, conv, copy), 170).passes == 1000
    assert class_work((conv,), 170).layers == round(10**6 / 170)
