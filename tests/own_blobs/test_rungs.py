"""The networks of target ladder: made by their script, all on the NPU.

Each has exactly one right result.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.board.run.ladder import RUNGS
from n6build.compile.reference.compile_model import graph_of
from n6build.judge.own_blobs.envelope import Grade
from n6build.judge.own_blobs.grades import grades_of
from n6build.judge.own_blobs.proof import imprecise, prove, require_agreement
from n6build.judge.own_blobs.reference_tensors import reference_tensors

from models.ladder import make_rungs
from own_blobs import compiled as own
from own_blobs.compiled import NPU, SEEN, program

LADDER = Path(make_rungs.__file__).parent


def test_the_script_writes_the_files_that_are_there(tmp_path: Path) -> None:
    assert [rung.name for rung in RUNGS] == [*make_rungs.RUNGS, *make_rungs.PARTS]
    make_rungs.write_all(tmp_path)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    there = {
        path.relative_to(LADDER): path.read_bytes() for path in LADDER.rglob("*/*.*") if "pycache" not in str(path)
    }
    assert made == there


@pytest.mark.parametrize("name", list(make_rungs.PARTS))
def test_a_part_of_keyword_is_on_the_npu_alone_and_in_the_forms_of_keyword(name: str) -> None:
    model = LADDER / name / f"{name}.tflite"
    graph = graph_of(model)
    calibrated = reference_tensors(model, graph, model.with_name("calibration.npy"))
    network = own.compile_file(model, graph, calibrated)
    proof = prove(program(), network, reference_tensors(model, graph, model.with_name("inputs.npy")))
    # The step requires this agreement, so that nothing stays on the CPU.
    require_agreement(proof, name)
    assert (network.lowered.on_cpu, imprecise(proof.forced, network)) == ((), {})
    grades = grades_of(network.blocks, NPU, SEEN)
    assert all(each.grade <= Grade.SMALLER for each in grades)
    whole = {each.form for each in grades_of(own.compiled("keyword").blocks, NPU, SEEN)}
    assert ({each.form for each in grades} == whole) == (name == "logits")


@pytest.mark.parametrize("name", list(make_rungs.RUNGS))
def test_a_rung_is_on_the_npu_alone_as_seen_and_exact(name: str) -> None:
    model = LADDER / name / f"{name}.tflite"
    graph = graph_of(model)
    vectors = reference_tensors(model, graph, model.with_name("inputs.npy"))
    network = own.compile_file(model, graph, vectors)
    assert network.lowered.on_cpu == ()
    assert all(each.grade <= Grade.SMALLER for each in grades_of(network.blocks, NPU, SEEN))
    proof = prove(program(), network, vectors)
    # Boards have to be equal, since the result does not depend on rounding.
    assert {each.equal for each in (*proof.forced, *proof.free)} == {1.0}
