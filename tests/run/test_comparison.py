"""Outputs against the reference: exact from the CPU, close from the NPU.

A report claims no more than that.
"""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.board.run.compare import OF_NOISE, Verdict, judge, of_noise
from n6build.board.run.comparison_text import result_lines, verdict_text, worst_outputs
from n6build.board.run.console_log import Inference
from n6build.board.run.session import NetworkOutcome, Outcome, raise_if_different, read_outcome
from n6build.board.run.table import print_results, run_junit
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.describe.model import Tolerance
from n6build.judge.timing.conditions import Conditions
from n6build.judge.timing.expected import expected_time
from n6build.judge.timing.model import read_model
from n6build.judge.timing.of_network import NetworkWork
from numpy.typing import NDArray

BOXES = IoBuffer("boxes", None, 4, "int8", (1, 4), 0.5, -128)
SCORES = IoBuffer("scores", None, 12, "float32", (1, 3), 1.0, 0)
FURTHER = "further from the reference interpreter than expected of the chip"
CLASSES = ("cat", "dog", "bird")
NETWORK = NetworkArtifacts("net", "net", Path("net.c"), (), (), (), (), (), (), None, None, (), "net.c")


def row(boxes: list[int], scores: list[float]) -> bytes:
    return np.array(boxes, np.int8).tobytes() + np.array(scores, "<f4").tobytes()


WANTED = row([-128, 0, 10, 20], [0.1, 0.7, 0.2])
NEAR = row([-128, 1, 10, 18], [0.1, 0.68, 0.22])
OTHER_TOP1 = row([-128, 0, 10, 20], [0.1, 0.44, 0.46])
FAR = row([20, 10, 0, -128], [0.1, 0.7, 0.2])


def verdicts(
    *made: bytes, tolerance: Tolerance | None = None, wanted: bytes = WANTED, float_ulps: float = 0.0
) -> tuple[Verdict, ...]:
    inferences = [Inference({0: each[:4], 1: each[4:]}, cycles=7) for each in made]
    outputs = (BOXES, SCORES)
    expected = [wanted] * len(made) if wanted else []
    return tuple(
        judge(
            inferences,
            expected,
            labels=(),
            classes=CLASSES,
            outputs=outputs,
            tolerance=tolerance,
            float_ulps=float_ulps,
        )
    )


def outcome(
    *made: bytes, tolerance: Tolerance | None = None, against: str = "", wanted: bytes = WANTED
) -> NetworkOutcome:
    judged = verdicts(*made, tolerance=tolerance, wanted=wanted)
    return NetworkOutcome("net", judged, {}, tolerance, against)


@pytest.mark.parametrize(("ulps", "limit", "passes"), [(1, 2.0, True), (1, 0.0, False), (3, 2.0, False)])
def test_a_reference_that_approximates_functions_of_float_may_be_some_ulps_off(
    ulps: int, limit: float, passes: bool
) -> None:
    scores = np.array([0.1, 0.7, 0.2], "<f4")
    scores[0] += np.float32(ulps) * np.spacing(np.float32(0.7))
    made = WANTED[:4] + scores.tobytes()
    (verdict,) = verdicts(made, float_ulps=limit)
    assert (verdict.equal, verdict.passes) == (False, passes)
    said = verdict_text(verdict, exact=True)
    assert said == (f"equal but for {ulps} ulp" if passes else f"{verdict.different_bytes} bytes differ")
    lines = result_lines([NetworkOutcome("net", (verdict,), {})])
    assert (
        "1 of 1 outputs equal the reference interpreter, but for float32 values at most 1 ulp" in lines[0]
    ) == passes
    # An integer has no ulps.
    assert not verdicts(NEAR[:4] + WANTED[4:], float_ulps=limit)[0].passes


def test_each_output_is_measured_from_its_own_zero_point() -> None:
    (verdict,) = verdicts(NEAR, tolerance=Tolerance())
    boxes, scores = verdict.outputs
    assert (boxes.name, boxes.elements, boxes.equal, boxes.within_1, boxes.max) == ("boxes", 4, 2, 3, 2)
    left, right = np.array([0, 129, 138, 146]), np.array([0, 128, 138, 148])
    assert boxes.cosine == pytest.approx(left @ right / np.sqrt((left @ left) * (right @ right)))
    assert (boxes.top1, scores.top1) == (None, True)
    assert verdict.answer == "dog"
    assert verdict.score == pytest.approx(0.68)


@pytest.mark.parametrize(
    ("made", "tolerance", "passes"),
    [
        (WANTED, None, True),
        (NEAR, None, False),
        (WANTED, Tolerance(), True),
        (NEAR, Tolerance(), True),
        (NEAR, Tolerance(cosine=1), False),
        (OTHER_TOP1, Tolerance(cosine=0.8), False),
        (OTHER_TOP1, Tolerance(cosine=0.8, top1=False), True),
        (FAR, Tolerance(), False),
        (WANTED[:-1], Tolerance(cosine=-1), False),
    ],
)
def test_what_passes(made: bytes, tolerance: Tolerance | None, passes: bool) -> None:
    (verdict,) = verdicts(made, tolerance=tolerance)
    assert verdict.passes is passes
    assert verdict.equal is (made == WANTED)


def test_a_class_that_shares_the_first_place_is_the_same() -> None:
    (verdict,) = verdicts(WANTED, tolerance=Tolerance(), wanted=row([-128, 0, 10, 20], [0.7, 0.7, 0.2]))
    assert verdict.outputs[1].top1


def test_without_a_reference_nothing_passes_and_nothing_fails() -> None:
    network = replace(outcome(NEAR, tolerance=Tolerance(), wanted=b""), not_compared="it ran on zeros")
    assert network.verdicts[0].passes is None
    assert result_lines([network]) == ["1 inferences, but no expected outputs for a comparison: it ran on zeros"]
    raise_if_different(network)


def test_a_network_of_the_npu_is_what_the_facts_say_and_no_more() -> None:
    network = outcome(NEAR, WANTED, tolerance=Tolerance(), against="net.tflite on ai-edge-litert")
    (line,) = result_lines([network])
    told = r"2 of 2 outputs are as expected of the chip, cosine 0\.99\d\d or more to net\.tflite on ai-edge-"
    assert re.match(told, line)
    assert "bit" not in line
    assert "silicon" not in line
    assert verdict_text(network.verdicts[1], exact=False) == "equal"
    near = verdict_text(network.verdicts[0], exact=False)
    assert re.fullmatch(
        r"boxes: 50\.00 % equal, 75\.00 % within 1, max 2, cosine 0\.\d{4}; scores: max difference 0\.02, cosine 0\.\d{4}",
        near,
    )
    assert [line.split(",")[0] for line in worst_outputs(network)] == ["output boxes", "output scores"]


def test_a_share_is_rounded_down_so_that_100_percent_means_all() -> None:
    many = IoBuffer("many", None, 100_000, "int8", (1, 100_000), 1.0, 0)
    wanted = bytes(100_000)
    (verdict,) = judge(
        [Inference({0: b"\1" + wanted[1:]})], [wanted], labels=(), classes=(), outputs=[many], tolerance=Tolerance()
    )
    assert verdict_text(verdict, exact=False).startswith("99.99 % equal, 100.00 % within 1, max 1, cosine 0.0000")


def test_networks_of_either_kind_get_a_sentence_of_their_own() -> None:
    lines = result_lines([outcome(WANTED), outcome(WANTED, WANTED), outcome(NEAR, tolerance=Tolerance())])
    assert lines[0] == "3 of 3 outputs equal the reference interpreter bit for bit"
    assert lines[1].startswith("1 of 1 outputs are as expected of the chip")


@pytest.mark.parametrize(
    ("network", "where", "what"),
    [
        (
            outcome(WANTED, NEAR),
            "model net, vector 1, output boxes",
            "1 of 2 outputs differ from the reference interpreter, 8 bytes",
        ),
        (
            outcome(WANTED[:-1], tolerance=Tolerance()),
            "model net, vector 0",
            "1 of 1 outputs differ from the reference interpreter, 1 bytes",
        ),
        (
            outcome(FAR, tolerance=Tolerance()),
            "model net, vector 0, output boxes",
            f"1 of 1 outputs are {FURTHER}: cosine 0.6162 of at least 0.99",
        ),
        (
            outcome(NEAR, OTHER_TOP1, tolerance=Tolerance(cosine=0.5)),
            "model net, vector 1, output scores",
            f"1 of 2 outputs are {FURTHER}: another top-1, cosine 0.8658 of at least 0.5",
        ),
    ],
)
def test_a_difference_is_an_error_that_says_which_output_and_by_how_much(
    network: NetworkOutcome, where: str, what: str
) -> None:
    with pytest.raises(N6Error) as caught:
        Outcome("board", 1, "cycles", (network,), (), {}).raise_if_wrong()
    assert caught.value.id == "N6-RUN-005"
    assert caught.value.where == where
    assert caught.value.what.startswith(what)


def test_run_json_and_xml_hold_it_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = outcome(NEAR, FAR, tolerance=Tolerance(), against="net.tflite on ai-edge-litert")
    made = Outcome("board", 64, "instructions", (network,), (), {})
    (tmp_path / "run.json").write_text(to_json(asdict(made)))
    assert read_outcome(tmp_path / "run.json") == made
    near, far = ElementTree.fromstring(run_junit(made)).iter("testcase")
    assert near.find("failure") is None
    assert "50.00 % equal, 75.00 % within 1" in str(near.findtext("system-out"))
    failure = far.find("failure")
    assert failure is not None
    assert "too far from the reference: boxes: 0.00 % equal" in str(failure.get("message"))
    nothing = expected_time(NetworkWork((), "", 0, 0), read_model(), Conditions("c", 1, 1, 1))
    print_results(made, [NETWORK], [nothing])
    assert "1 of 2 outputs are as expected of the chip" in capsys.readouterr().out


@given(
    st.sampled_from([Tolerance(), Tolerance(-1, False), None]),
    arrays.arrays(np.uint8, st.integers(0, 20)),
    arrays.arrays(np.uint8, st.integers(0, 20)),
)
def test_any_bytes_are_judged_and_told(
    tolerance: Tolerance | None, made: NDArray[np.uint8], wanted: NDArray[np.uint8]
) -> None:
    network = outcome(made.tobytes(), tolerance=tolerance, wanted=wanted.tobytes() or b"\0")
    (verdict,) = network.verdicts
    assert (verdict.equal is True) <= (verdict.passes is True) or tolerance is not None
    assert verdict_text(verdict, exact=tolerance is None)
    to_json(asdict(network))
    assert "Infinity" not in to_json(asdict(network))
    assert result_lines([network])


@pytest.mark.parametrize(
    ("nudged", "least"), [(None, 0.9), (1.0, 0.9), (0.95, 0.9), (0.9, 0.8), (0.618, 0.236), (-1, -1)]
)
def test_noise_may_move_outputs_twice_as_far_as_a_step_of_the_inputs(nudged: float | None, least: float) -> None:
    assert of_noise(nudged).cosine == pytest.approx(least)


def test_inputs_that_tell_little_are_named() -> None:
    far = replace(outcome(FAR, tolerance=of_noise(0.618)), is_seeded=True, nudged=0.618)
    told = "these inputs tell little of model: its outputs in the reference move to cosine 0.6180 if each input value"
    assert any(line.startswith(told.replace("model", far.model)) for line in result_lines([far]))
    near = replace(outcome(NEAR, tolerance=OF_NOISE), is_seeded=True, nudged=0.97)
    assert not any("tell little" in line for line in result_lines([near]))
