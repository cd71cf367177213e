"""Results of the ladder on boards: higher grades, and warnings for epochs.

A result decides whether a grade exceeds the grade of seen epochs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.environment import Environment
from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.compile.backend import Compilation, ModelSource
from n6build.compile.ll_aton import own_version
from n6build.compile.neural_art.backend import BACKEND
from n6build.judge.own_blobs.board_record import Ladder, Result, RungEpoch, RungResult
from n6build.judge.own_blobs.confirmed import Confirmed, confirmed_by, read_confirmed
from n6build.judge.own_blobs.envelope import Grade, form_of
from n6build.judge.own_blobs.figures import figures_json, listing
from n6build.judge.own_blobs.grades import grades_of, silicon_text
from n6build.judge.own_blobs.make_blobs import require_grades
from n6build.judge.own_blobs.proof import Proof

from own_blobs import compiled as own
from own_blobs.compiled import NAMES, NPU, SEEN

SUM, PAD, DEEP = RungEpoch("sum", "seen", "a1"), RungEpoch("+128", "seen", "b2"), RungEpoch("1x1 deep", "seen", "c3")
DEEP_LARGER = replace(DEEP, form="c4")


def record(*rungs: tuple[str, Result, tuple[RungEpoch, ...]], virtual: bool = False) -> Ladder:
    results = tuple(
        RungResult(name, result, tuple(replace(each, result=each.result or result) for each in epochs))
        for name, result, epochs in rungs
    )
    return Ladder("0.5", "nucleo-n657", virtual, "" if virtual else "abc", results)


CLIMBED = record(("sum", "equal", (SUM,)), ("dense", "equal", (PAD, DEEP)))


def test_forms_of_rungs_whose_bytes_are_all_equal_are_confirmed_and_no_others() -> None:
    assert confirmed_by([CLIMBED]).forms == {"a1", "b2", "c3"}
    others: tuple[Result, ...] = ("near", "differs", "stopped", "not reached")
    assert all(confirmed_by([record(("sum", each, (SUM,)))]).forms == frozenset() for each in others)
    # This record is older than forms and results of epochs.
    earlier = RungResult("sum", "equal", (RungEpoch("sum", "seen"),))
    assert confirmed_by([replace(CLIMBED, rungs=(earlier,))]) == Confirmed()


def test_kinds_of_a_rung_that_failed_are_warned_of_but_what_the_same_board_has_confirmed_is_not() -> None:
    found = confirmed_by([record(("dense", "equal", (PAD, DEEP)), ("pointwise", "differs", (PAD, DEEP_LARGER)))])
    assert found.forms == {"b2", "c3"}
    assert found.warnings("1x1 deep", "c4") == ("pointwise on nucleo-n657",)
    # No board has run this other size of the kind.
    assert found.warnings("1x1 deep", "c5") == ("pointwise on nucleo-n657",)
    assert found.warnings("1x1 deep", "c3") == found.warnings("+128", "b9") == ()


def test_what_one_board_confirms_and_another_fails_with_is_not_confirmed() -> None:
    found = confirmed_by([CLIMBED, record(("sum", "differs", (SUM,)))])
    assert found.forms == {"b2", "c3"}
    assert found.warnings("sum", "a1") == ("sum on nucleo-n657",)


def test_where_outputs_tell_which_epoch_differs_those_before_are_confirmed_and_only_that_is_warned_of() -> None:
    marked = (
        replace(SUM, result="equal"),
        replace(PAD, result="equal"),
        replace(DEEP, result="differs"),
        replace(DEEP_LARGER, result="not reached"),
    )
    found = confirmed_by([record(("layers", "differs", marked))])
    assert found.forms == {"a1", "b2"}
    assert set(found.failed) == {"1x1 deep"}


def test_a_virtual_board_confirms_nothing_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    virtual, real = tmp_path / "virtual.json", tmp_path / "real.json"
    virtual.write_text(to_json(asdict(replace(CLIMBED, virtual=True))))
    real.write_text(to_json(asdict(CLIMBED)))
    assert read_confirmed([virtual]) == Confirmed()
    assert "Record virtual.json, ignored: a virtual board confirms nothing" in capsys.readouterr().out
    assert read_confirmed([virtual, real]) == confirmed_by([CLIMBED])
    assert "real.json, nucleo-n657: forms confirmed 3, kinds failed: none" in capsys.readouterr().out


def test_a_file_that_is_no_record_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")
    with pytest.raises(N6Error, match="N6-LADDER-002") as caught:
        read_confirmed([tmp_path / "mine.json"])
    assert "mine.json" in str(caught.value)


_TEXT = st.text(max_size=80)
_RESULT = st.sampled_from(["equal", "near", "differs", "stopped", "not reached"])
_EPOCH = st.builds(RungEpoch, kind=_TEXT, grade=_TEXT, form=_TEXT, result=st.none() | _RESULT)
_RUNG = st.builds(
    RungResult,
    name=_TEXT,
    result=_RESULT,
    epochs=st.lists(_EPOCH, max_size=4).map(tuple),
)
_LADDER = st.builds(
    Ladder,
    n6build=_TEXT,
    board=_TEXT,
    virtual=st.booleans(),
    probe=_TEXT,
    rungs=st.lists(_RUNG, max_size=4).map(tuple),
)


@given(st.lists(_LADDER, max_size=3))
def test_no_record_confirms_what_no_real_board_gave_equal_bytes_of(records: list[Ladder]) -> None:
    real = [epoch for each in records if not each.virtual for rung in each.rungs for epoch in rung.epochs]
    equal = {epoch.form for epoch in real if epoch.result == "equal"} - {""}
    found = confirmed_by(records)
    assert found.forms <= equal
    # Any title of a record becomes one short line.
    assert all(rung.isprintable() and len(rung) < 300 for rungs in found.failed.values() for rung in rungs)


def test_a_form_is_of_sizes_and_not_of_addresses_or_coefficients() -> None:
    first, *others = own.epochs("keyword")
    form = form_of(first, NAMES)
    assert form not in {form_of(each, NAMES) for each in others}

    def with_field(kind: str, key: tuple[str, str]) -> str:
        units = tuple(
            replace(each, fields={**each.fields, key: each.fields.get(key, 0) + 1}) if each.kind == kind else each
            for each in first.units
        )
        return form_of(replace(first, units=units), NAMES)

    assert with_field("STRENG", ("ADDR", "REG")) == form
    assert with_field("STRENG", ("LIMIT", "CNT")) != form
    # Some layers differ only in their weights.
    assert len({form_of(each, NAMES) for each in (first, *others)}) < 13


def test_a_confirmed_form_has_that_grade_in_the_files_though_it_is_larger_or_unseen() -> None:
    network = own.compiled("keyword")
    narrow = replace(SEEN, kinds=tuple(each for each in SEEN.kinds if each.unit != "POOL"))
    before = grades_of(network.blocks, NPU, narrow)
    assert silicon_text(before) == "not run on silicon"
    refused = [each for each in before if each.grade > Grade.SMALLER]
    kept = next(each for each in before if each.grade <= Grade.SMALLER)
    kind = network.lowered.hardware[kept.epoch].kind
    confirmed = Confirmed(frozenset(each.form for each in refused), {kind: ("chain on nucleo-n657",)})
    grades = grades_of(network.blocks, NPU, narrow, confirmed.forms)
    require_grades(grades, set(), "keyword.tflite")
    count = sum(each.form in confirmed.forms for each in before)
    assert f"{count} of 13 epochs have a form that ran on a board" in silicon_text(grades)
    figures = json.loads(figures_json(network, Proof(1, (), (), "", 1, "LiteRT"), grades, narrow, confirmed))
    found = {each["epoch"]: each for each in figures["epochs"]}
    assert all(found[each.epoch]["grade"] == "confirmed on silicon" for each in refused)
    assert found[kept.epoch]["failed_on_board"] == ["chain on nucleo-n657"]
    text = listing(network, grades, NPU, confirmed)
    assert ", confirmed on silicon\n" in text
    assert "; its kind failed in rung chain on nucleo-n657\n" in text


def test_records_in_the_project_s_folder_of_boards_are_inputs_of_the_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = own.model_file("keyword")
    source = ModelSource("keyword", model, None, None, None, None, (), model.with_name("inputs.npy"))
    compilation = Compilation(
        source, "network", "build", own.pools(), own_version(), Environment("", tmp_path, None, (), ()), None
    )
    assert not [each for each in BACKEND.step(compilation).sources if each.endswith("ladder.json")]
    folder = tmp_path / "boards/npu/confirmed"
    folder.mkdir(parents=True)
    (folder / "ladder.json").write_text(to_json(asdict(CLIMBED)))
    step = BACKEND.step(compilation)
    assert "boards/npu/confirmed/ladder.json" in step.sources
    assert json.loads(step.parameters)["records"] == 1
