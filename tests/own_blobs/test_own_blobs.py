"""Networks of the project for the NPU, compared with LiteRT in the NPU's model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.compile.neural_art.hardware_epoch import READ_AHEAD
from n6build.judge.own_blobs.agreement import Agreement
from n6build.judge.own_blobs.confirmed import Confirmed
from n6build.judge.own_blobs.digests import require_proved
from n6build.judge.own_blobs.envelope import Grade
from n6build.judge.own_blobs.figures import figures_json, listing
from n6build.judge.own_blobs.grades import grades_of
from n6build.judge.own_blobs.proof import Proof, imprecise, prove, require_agreement, run_forced
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors
from n6build.judge.own_blobs.structure import require_structure

from own_blobs import compiled as own
from own_blobs.compiled import NPU, SEEN, Flip


@pytest.mark.parametrize(("model", "on_npu", "on_cpu"), [("keyword", 13, 1), ("miniresnet", 22, 2)])
def test_every_tensor_is_litert_s_within_one_step(model: str, on_npu: int, on_cpu: int) -> None:
    network = own.compiled(model)
    assert (len(network.lowered.hardware), len(network.lowered.on_cpu)) == (on_npu, on_cpu)
    proof = prove(own.program(), network, own.first(3, own.vectors(model)))
    require_agreement(proof, model)
    assert imprecise(proof.forced, network) == {}
    assert proof.same_class == proof.vectors == 3
    # In a free run, errors of one step each add up.
    assert 0 < max(each.furthest for each in proof.free) < 16


@pytest.mark.parametrize("model", ["keyword", "miniresnet"])
def test_every_epoch_was_seen_or_is_smaller(model: str) -> None:
    network = own.compiled(model)
    require_structure(network.blocks, NPU)
    grades = grades_of(network.blocks, NPU, SEEN)
    assert [each.epoch for each in grades] == sorted(network.lowered.hardware)
    assert max(each.grade for each in grades) <= Grade.SMALLER
    assert Grade.SEEN in {each.grade for each in grades}


def test_every_buffer_has_bytes_behind_it_that_an_engine_may_read() -> None:
    network = own.compiled("miniresnet")
    buffers = {buffer.name: buffer for buffer in network.lowered.network.buffers}
    spans = [
        (place.address, place.address + place.bytes + READ_AHEAD, buffers[name])
        for name, place in network.placement.places.items()
        if name in buffers
    ]
    for start, end, buffer in spans:
        for other_start, other_end, other in spans:
            together = buffer.first <= other.last and other.first <= buffer.last
            if buffer is not other and together:
                assert end <= other_start or other_end <= start, f"{buffer.name} and {other.name}"
    assert len(network.kernels) >= max(
        place.end + READ_AHEAD
        for name, place in network.placement.places.items()
        if "kernels" in name and "Read_ahead" not in name
    )


def test_what_pads_an_image_and_what_adds_sums_is_in_the_epoch_of_the_operator() -> None:
    network = own.compiled("miniresnet")
    epochs = {index: epoch for index, epoch in network.lowered.hardware.items() if epoch.node.startswith("MaxPool")}
    ((index, pool),) = epochs.items()
    assert pool.kind == "max pool 3x3, padded"
    # Results without rounding are equal to LiteRT's, byte by byte.
    forced = run_forced(own.program(), network, own.first(1, own.vectors("miniresnet")))
    assert next(each.equal for each in forced if each.epoch == index) == 1.0
    # 64 channels, eight a unit and four units a chain, take two epochs.
    assert [each.kind for each in network.lowered.hardware.values() if each.operators == (6,)] == [
        "3x3, chain of 4"
    ] * 2


def test_an_operator_that_is_kept_goes_to_the_cpu_and_the_blob_in_two() -> None:
    network = own.compile_model("keyword", kept={2: "asked for by this test"})
    assert next((each.index, each.why) for each in network.lowered.on_cpu) == (2, "asked for by this test")
    assert len(network.blocks) == 2
    proof = prove(own.program(), network, own.first(2, own.vectors("keyword")))
    require_agreement(proof, "keyword")
    source = network.files["network.c"]
    assert isinstance(source, str)
    # Outputs of the CPU are cleaned for the NPU. Outputs of the NPU are invalidated before the CPU reads them.
    assert source.count("EpochBlock_Flags_blob | EpochBlock_Flags_pure_hw") == 2
    second = source.index("static void _ec_blob_network_2_start")
    assert "LL_ATON_Cache_MCU_Clean_Range" in source[second : source.index("}", second)]


def test_what_the_cpu_left_behind_a_buffer_is_cleaned_before_a_unit_reads_ahead() -> None:
    # The bytes behind a buffer may be dirty lines of the CPU: of an image that is no longer used, for example.
    network = own.compile_model("miniresnet", kept={1: "asked for by this test"})
    source, places = network.files["network.c"], network.placement.places
    assert isinstance(source, str)
    cpu = [epoch for epoch in network.lowered.network.epochs if epoch.kernel]
    by_cpu = [places[name] for epoch in cpu for name in (epoch.output, *epoch.inputs)]
    (blob,) = (block.blob for block in network.blocks)
    start = source[source.index(f"static void {blob.name}_start") :].partition("}")[0]
    shared = [
        each
        for each in map(places.__getitem__, blob.rereads)
        if any(each.offset + each.bytes < left.end and left.offset < each.end + READ_AHEAD for left in by_cpu)
    ]
    assert shared
    for each in shared:
        cleaned = start.index(
            f"LL_ATON_Cache_MCU_Clean_Range(ATON_LIB_PHYSICAL_TO_VIRTUAL_ADDR(0x{each.pool.address:x}UL + {each.end}UL), 64)"
        )
        assert cleaned < start.index("Invalidate_Range")


def test_the_same_model_gives_the_same_bytes() -> None:
    assert own.compile_model("keyword").files == own.compiled("keyword").files


def test_a_network_without_anything_for_the_npu_says_every_reason() -> None:
    operators = range(len(own.graph("keyword").operators))
    with pytest.raises(N6Error, match="N6-NET-030") as caught:
        own.compile_model("keyword", kept={index: f"reason {index}" for index in operators})
    assert all(f"reason {index}" in str(caught.value) for index in operators if index != 11)


def test_a_tensor_that_is_not_litert_s_is_named_with_its_epoch() -> None:
    wrong = Agreement(7, "Conv2D_4_out_0", 1000, 0.995, 0.999, 3)
    proof = Proof(2, (replace(wrong, furthest=1), wrong), (), "last", 2, "LiteRT")
    with pytest.raises(N6Error, match="N6-NPU-012: 1 of 2 tensors .*\n.*epoch 7, Conv2D_4_out_0: 99.50 % equal"):
        require_agreement(proof, "model.tflite")


def test_calibration_that_is_too_small_is_found_on_the_test_vectors() -> None:
    """Sums in parts saturate if they were calibrated on silent tensors."""
    silent = {index: np.full_like(values[:1], -128) for index, values in own.vectors("miniresnet").values.items()}
    network = own.compile_model("miniresnet", values=ReferenceTensors(1, silent, "LiteRT"), margin=1.0)
    proof = prove(own.program(), network, own.first(2, own.vectors("miniresnet")))
    with pytest.raises(N6Error, match="N6-NPU-012") as caught:
        require_agreement(proof, "miniresnet.tflite")
    assert "network.neural_art.margin" in str(caught.value)


def flips(count: int) -> list[Flip]:
    words = len(own.compiled("keyword").blocks[0].words)
    choose = np.random.default_rng(21)
    return [Flip(int(choose.integers(words)), int(choose.integers(32))) for _ in range(count)]


def found_by(flip: Flip, before: Proof) -> str:
    """Return the check that refuses a blob with this bit changed, or an empty text.

    The digest is not used.
    """
    damaged = flip.of(own.compiled("keyword"))
    try:
        require_structure(damaged.blocks, NPU)
        if max(each.grade for each in grades_of(damaged.blocks, NPU, SEEN)) > Grade.SMALLER:
            return "grade"
        after = prove(own.program(), damaged, own.first(1, own.vectors("keyword")))
    except N6Error as error:
        return error.id
    return "" if after.forced == before.forced else "comparison"


def check_flips(tmp_path: Path, count: int) -> dict[str, int]:
    network = own.compiled("keyword")
    before = prove(own.program(), network, own.first(1, own.vectors("keyword")))
    (tmp_path / "network_npu.json").write_text(
        figures_json(network, before, grades_of(network.blocks, NPU, SEEN), SEEN, Confirmed())
    )
    found: dict[str, int] = {}
    for flip in flips(count):
        damaged = flip.of(network)
        (block,) = damaged.blocks
        data = ", ".join(
            f"0x{high:08x}{low:08x}UL" for low, high in zip(block.words[::2], block.words[1::2], strict=True)
        )
        text = f"static const uint64_t {block.blob.name}[{len(block.words) // 2}] =\n{{ {data} }};\n"
        (tmp_path / "network_ecblobs.h").write_text(text)
        by = found_by(flip, before)
        found[by] = found.get(by, 0) + 1
        try:
            require_proved(tmp_path, "network")
        except N6Error as error:
            assert error.id in ("N6-NPU-016", "N6-NPU-002", "N6-NPU-001")
        else:
            # Zeros behind the end do not run.
            assert by == "N6-NPU-015", flip
    return found


def test_a_flipped_bit_is_never_flashed(tmp_path: Path) -> None:
    found = check_flips(tmp_path, 20)
    assert {"N6-NPU-015", "comparison"} <= found.keys()


@pytest.mark.slow
def test_of_200_flipped_bits_none_is_flashed(tmp_path: Path) -> None:
    found = check_flips(tmp_path, 200)
    assert found.get("", 0) < 100, found


def test_figures_and_listing_say_that_nothing_has_run_on_silicon() -> None:
    network = own.compiled("keyword")
    grades = grades_of(network.blocks, NPU, SEEN)
    proof = Proof(1, (), (), "", 1, "LiteRT")
    figures = json.loads(figures_json(network, proof, grades, SEEN, Confirmed()))
    assert figures["ran_on_silicon"] is False
    assert {each["grade"] for each in figures["epochs"]} <= {"seen", "smaller"}
    assert figures["on_cpu"] == [{"operator": "SOFTMAX", "index": 11, "why": "no such operator was seen on the NPU"}]
    # Each operator has its figures, and there are totals.
    assert [(each["name"], each["epochs"]) for each in figures["operators"]][:2] == [
        ("Conv2D_0", 3),
        ("DepthwiseConv2D_1", 1),
    ]
    for key in ("epochs", "macs", "useful", "moved"):
        assert figures["all"][key] == sum(each[key] for each in figures["operators"])
    assert figures["all"]["moved"] == sum(each["bytes"] for each in figures["epochs"])
    lines = listing(network, grades, NPU, Confirmed()).splitlines()
    assert "not run on silicon" in lines[0]
    assert lines[2].split() == ["Conv2D_0", "3", "epochs", "112,657", "bytes", "48", "%", "of", "672,870", "MACs"]
    assert "; Conv2D_0_part_1 pad, seen" in lines


def test_a_blob_beside_a_damaged_proof_is_refused(tmp_path: Path) -> None:
    (tmp_path / "network_npu.json").write_text("[]")
    (tmp_path / "network_ecblobs.h").write_text("")
    with pytest.raises(N6Error, match="N6-NPU-016"):
        require_proved(tmp_path, "network")
    require_proved(tmp_path, "another")
