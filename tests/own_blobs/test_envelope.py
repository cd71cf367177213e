"""The database of seen epochs: its permissions, its growth and its errors."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.judge.own_blobs.envelope import Envelope, Grade, SeenKind, grade_of, judged, read_envelope
from n6build.judge.own_blobs.grades import Graded, grades_of
from n6build.judge.own_blobs.make_blobs import require_grades
from n6build.judge.own_blobs.widening import EMPTY, envelope_text, newly_allowed, widened
from samples import sample

from own_blobs import compiled as own
from own_blobs.compiled import NAMES, NPU, ROOT, SEEN

sys.path.insert(0, str(ROOT / "tools"))
import npu_envelope


def grades(envelope: Envelope) -> set[Grade]:
    return {grade_of(judged(epoch, NAMES, envelope)) for epoch in own.epochs("keyword")}


def test_what_was_collected_is_seen_and_what_is_less_is_smaller_larger_or_unseen() -> None:
    own_epochs = widened(EMPTY, "ours", own.epochs("keyword"), NAMES)
    assert grades(own_epochs) == {Grade.SEEN}
    larger = replace(own_epochs, kinds=tuple(map(_with_smaller_sizes, own_epochs.kinds)))
    assert Grade.LARGER in grades(larger)
    smaller = replace(own_epochs, kinds=tuple(map(_with_larger_sizes, own_epochs.kinds)))
    assert grades(smaller) == {Grade.SMALLER}
    without = replace(own_epochs, kinds=tuple(each for each in own_epochs.kinds if each.unit != "POOL"))
    assert Grade.UNSEEN in grades(without)
    other_bits = replace(own_epochs, bits=tuple(replace(each, words=(), set=0) for each in own_epochs.bits))
    assert grades(other_bits) == {Grade.UNSEEN}
    # A database that was cut off before its bits allows nothing.
    assert grades(replace(own_epochs, bits=())) == {Grade.UNSEEN}


def _with_smaller_sizes(kind: SeenKind) -> SeenKind:
    return replace(kind, sizes={name: (low, max(low, high - 1)) for name, (low, high) in kind.sizes.items()})


def _with_larger_sizes(kind: SeenKind) -> SeenKind:
    return replace(kind, sizes={name: (high + 1, high + 1) for name, (_, high) in kind.sizes.items()})


def test_larger_and_unseen_are_refused_unless_they_are_asked_for_by_name() -> None:
    found = grades_of(own.compiled("keyword").blocks, NPU, replace(SEEN, kinds=SEEN.kinds[:60]))
    with pytest.raises(N6Error, match="N6-NPU-013") as caught:
        require_grades(found, set(), "keyword.tflite")
    text = str(caught.value)
    refused = [each for each in found if each.grade > Grade.SMALLER]
    # The error has all reasons at once.
    assert all(f"epoch {each.epoch}: " in text for each in refused)
    assert "network.neural_art.allow" in text
    require_grades(found, {Grade.UNSEEN, Grade.LARGER}, "keyword.tflite")
    smaller = [Graded(1, Grade.SMALLER, ()), Graded(2, Grade.SEEN, ())]
    require_grades(smaller, set(), "keyword.tflite")


def test_a_database_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "envelope.yaml").write_text(envelope_text(SEEN))
    assert read_envelope(tmp_path / "envelope.yaml") == SEEN


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (("kinds:", "sorts:"), "N6-YAML"),
        (("epochs: 448", "epochs: many"), "N6-YAML"),
        (("frames: [1, 128]", "frames: [128, 1]"), "N6-NPU-014"),
        (("frames: [1, 128]", "frames: [1]"), "N6-NPU-014"),
        (("count: 213", "count: -5"), "N6-YAML-004"),
        (('kind: "lanes=8x0x0 row=1 writes=1"', 'kind: "lanes=8x0x0 row=1"'), "N6-NPU-014: .* has STRENG .* twice"),
        (("register: CLIPRANGE", "register: CTRL"), "N6-NPU-014: .* the bits of ARITH CTRL twice"),
    ],
)
def test_a_damaged_database_is_a_clear_error(tmp_path: Path, edit: tuple[str, str], expected: str) -> None:
    text = envelope_text(SEEN)
    assert edit[0] in text
    (tmp_path / "envelope.yaml").write_text(text.replace(edit[0], edit[1], 1))
    with pytest.raises(N6Error, match=expected):
        read_envelope(tmp_path / "envelope.yaml")


def test_a_database_without_kinds_is_refused(tmp_path: Path) -> None:
    (tmp_path / "envelope.yaml").write_text("networks: []\nepochs: 0\nepochs_with_bits: 0\nkinds: []\n")
    with pytest.raises(N6Error, match="N6-NPU-014"):
        read_envelope(tmp_path / "envelope.yaml")


def test_a_database_that_was_cut_off_in_front_of_its_bits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "envelope.yaml").write_text(envelope_text(SEEN).partition("bits:\n")[0])
    with pytest.raises(N6Error, match="N6-NPU-014: .* has no bits, but counts 52 epochs with them"):
        read_envelope(tmp_path / "envelope.yaml")


@given(st.binary(max_size=200))
def test_a_database_of_any_bytes_is_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("envelope") / "envelope.yaml"
    file.write_bytes(data)
    with pytest.raises(N6Error):
        read_envelope(file)


def test_widening_says_what_it_newly_allows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "their_network"
    folder.mkdir()
    header = own.compiled("keyword").files["network_ecblobs.h"]
    assert isinstance(header, str)
    (folder / "network_ecblobs.h").write_text(header)
    assert npu_envelope.main([str(tmp_path), "-o", str(tmp_path / "alone.yaml")]) == 0
    assert "13 epochs" in capsys.readouterr().out
    alone = read_envelope(tmp_path / "alone.yaml")
    assert (alone.networks, alone.epochs) == (("their_network",), 13)
    assert grades(alone) == {Grade.SEEN}
    # In the widened database, smaller sizes have become seen ones.
    assert npu_envelope.main([str(tmp_path), "--onto", str(ROOT / "boards/npu/envelope.yaml")]) == 0
    told = capsys.readouterr().out
    assert "newly allowed: " in told
    assert "newly allowed: 0" not in told
    assert newly_allowed(alone, alone) == []


def test_a_folder_without_blobs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert npu_envelope.main([str(tmp_path)]) == 2
    assert "N6-NPU-018" in capsys.readouterr().err


def test_st_s_own_network_allows_nothing_that_the_facts_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    """The features of this network are those of the facts.

    It is one of the six networks that the facts were collected from.
    """
    folder = sample("npu/reid-mobilenetv2-core-3.0")
    assert npu_envelope.main([str(folder), "--onto", str(ROOT / "boards/npu/envelope.yaml")]) == 0
    assert "52 epochs\nnewly allowed: 0\n" in capsys.readouterr().out
