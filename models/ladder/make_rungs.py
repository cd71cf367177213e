"""Write the models of the rungs of target `ladder`.

Usage, from the root: `python models/ladder/make_rungs.py`.

The first rungs have one operator each. All scales are 1 and inputs are small, so that every result
is an integer. Other ways of rounding, and rounding more than once, give the same bytes. A board that
returns other bytes has computed something else.

The last rungs are the part of model keyword that the NPU computes. Its sums are rounded, so the
expected bytes are those of the model of the NPU. In `layers`, the result of each operator is an
output, so that a board shows the first operator that differs. `logits` is the one blob of keyword
in its normal form.
"""

import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "site_scons")]

import flatbuffers  # noqa: E402
import one_op_models as ops  # noqa: E402 - the tests' writer of models.
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from n6build.compile.board_pools import pools_of_networks  # noqa: E402
from n6build.compile.ll_aton import own_version  # noqa: E402
from n6build.compile.neural_art.backend import NpuOptions  # noqa: E402
from n6build.compile.neural_art.compile_epochs import Request, compile_for_npu  # noqa: E402
from n6build.compile.neural_art.layer import Calibration  # noqa: E402
from n6build.compile.reference.compile_model import graph_of  # noqa: E402
from n6build.describe.hardware.boards import load_board  # noqa: E402
from n6build.judge.own_blobs.model_program import find_program  # noqa: E402
from n6build.judge.own_blobs.proof import free_tensors  # noqa: E402
from n6build.judge.own_blobs.reference_tensors import reference_tensors  # noqa: E402

HERE = Path(__file__).parent
VECTORS = 4
# Bytes before and behind each buffer that no epoch may write.
GUARD = 64
# The least int8. It is the zero point of inputs that the NPU reads as unsigned.
LEAST = -128


@dataclass(frozen=True)
class Rung:
    """A rung with a model of one operator.

    Attributes:
        what: Description in its model.yaml.
        make: Return the model.
        shapes: Shapes of the inputs, with the batch.
        low: Least value of the inputs.
        high: Largest value of the inputs.
    """

    what: str
    make: Callable[[], bytes]
    shapes: Sequence[tuple[int, ...]]
    low: int = LEAST
    high: int = 127


def _weights(seed: int, shape: tuple[int, ...]) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-1, 2, shape, dtype=np.int8)


def _bias(seed: int, count: int) -> NDArray[np.int32]:
    return np.random.default_rng(seed).integers(-8, 9, count, dtype=np.int32)


UNIT, FROM_LEAST = ops.Quantisation(1.0), ops.Quantisation(1.0, LEAST)


def _pool() -> bytes:
    return ops.pool_2d("MAX", (16, 16, 8), (2, 2), (2, 2), UNIT, padding="VALID")


def _sum() -> bytes:
    return ops.add((1, 8, 8, 8), (1, 8, 8, 8), UNIT, UNIT, UNIT)


def _pointwise() -> bytes:
    return ops.conv_2d((8, 8, 32), _weights(3, (16, 1, 1, 32)), _bias(3, 16), [1.0] * 16, FROM_LEAST, UNIT)


def _depthwise() -> bytes:
    return ops.depthwise_conv_2d((8, 8, 16), _weights(4, (1, 3, 3, 16)), _bias(4, 16), [1.0] * 16, FROM_LEAST, UNIT)


def _chain() -> bytes:
    return ops.conv_2d((8, 8, 16), _weights(5, (16, 3, 3, 16)), _bias(5, 16), [1.0] * 16, FROM_LEAST, UNIT)


def _pad() -> bytes:
    return ops.pad((1, 8, 8, 8), ((0, 0), (1, 1), (1, 1), (0, 0)), FROM_LEAST)


def _dense() -> bytes:
    return ops.fully_connected(1, _weights(6, (16, 64)), _bias(6, 16), [1.0] * 16, FROM_LEAST, UNIT)


def _mean() -> bytes:
    return ops.pool_2d("AVERAGE", (8, 8, 8), (8, 8), (1, 1), UNIT, padding="VALID")


def _copy() -> bytes:
    return ops.reshape((1, 64), (1, 8, 8), UNIT)


def _offset() -> bytes:
    return ops.quantize((1, 64), np.int8, np.uint8, UNIT, ops.Quantisation(1.0, -LEAST))


# The rungs are in the order in which a board runs them.
RUNGS = {
    "copy": Rung("64 bytes from one engine to another", _copy, [(1, 64)]),
    "offset": Rung("128 added to 64 bytes", _offset, [(1, 64)]),
    "sum": Rung("sum of two tensors, one epoch of one unit", _sum, [(1, 8, 8, 8)] * 2, -60, 60),
    "mean": Rung("mean of an image", _mean, [(1, 8, 8, 8)]),
    "pool": Rung("maximum of 2x2", _pool, [(1, 16, 16, 8)]),
    "pad": Rung("padding of an image", _pad, [(1, 8, 8, 8)]),
    "dense": Rung("fully connected", _dense, [(1, 64)], LEAST, LEAST + 3),
    "pointwise": Rung("convolution 1x1", _pointwise, [(1, 8, 8, 32)], LEAST, LEAST + 5),
    "depthwise": Rung("depthwise convolution 3x3", _depthwise, [(1, 8, 8, 16)], LEAST, LEAST + 7),
    "chain": Rung("convolution 3x3, a chain of two units", _chain, [(1, 8, 8, 16)], LEAST, LEAST + 2),
}


def inputs_of(rung: Rung, seed: int) -> list[NDArray[np.int8]]:
    """Return random test vectors for each input.

    Args:
        rung: A rung with a model of one operator.
        seed: Seed of the random numbers.

    Returns:
        For each input, vectors x its shape without the batch.
    """
    random = np.random.default_rng(seed)
    made = [random.integers(rung.low, rung.high + 1, (VECTORS, *shape[1:]), dtype=np.int8) for shape in rung.shapes]
    if rung is RUNGS["mean"]:
        # All elements of a channel are equal, so that their mean is an integer.
        made = [np.broadcast_to(values[:, :1, :1], values.shape).copy() for values in made]
    return made


def expected_of(model: bytes, inputs: Sequence[NDArray[np.int8]]) -> NDArray[np.int8]:
    """Return the outputs of LiteRT's reference kernels.

    Returns:
        Vectors x the output's shape, without the batch.
    """
    interpreter = Interpreter(
        model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1
    )
    interpreter.allocate_tensors()
    outputs = []
    for index in range(VECTORS):
        for port, values in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(port["index"], values[index][None])
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0].copy())
    return np.stack(outputs)


def write(name: str, seed: int, folder: Path) -> None:
    """Write the files of a rung of one operator.

    Args:
        name: A key of `RUNGS`.
        seed: Seed of the random inputs.
        folder: Folder of the files; it is created if necessary.
    """
    rung = RUNGS[name]
    model, inputs = rung.make(), inputs_of(rung, seed)
    rows = inputs[0] if len(inputs) == 1 else np.concatenate([each.reshape(VECTORS, -1) for each in inputs], axis=1)
    _write(folder, name, rung.what, model, rows, f"network: {{neural_art: {{guard: {GUARD}}}}}\n")
    np.save(folder / "expected.npy", expected_of(model, inputs))


def _write(folder: Path, name: str, what: str, model: bytes, rows: NDArray[np.int8], more: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.tflite").write_bytes(model)
    np.save(folder / "inputs.npy", rows)
    lines = (
        f"name: {name}",
        f"file: {name}.tflite",
        f'sha256: "{hashlib.sha256(model).hexdigest()}"',
        f"description: {what}",
        "made_by: ../make_rungs.py",
        "vectors: {inputs: inputs.npy, expected: expected.npy}",
    )
    (folder / "model.yaml").write_text("".join(f"{line}\n" for line in lines) + more)


WHOLE = ROOT / "models" / "keyword"


@dataclass(frozen=True)
class Part:
    """A rung with a part of model keyword.

    Attributes:
        what: Description in its model.yaml.
        every: Whether the result of each operator is an output, not only that of the last one.
        vectors: Number of keyword's test vectors that are run.
        guard: Bytes before and behind each buffer that no epoch may write, 0 for none. With guards,
            no buffer takes the memory of another one.
    """

    what: str
    every: bool
    vectors: int
    guard: int


# The parts lack the SOFTMAX at the end of keyword. `layers` has one vector, because a board takes seconds to send its results.
PARTS = {
    "layers": Part("keyword without its softmax, with the result of each operator", every=True, vectors=1, guard=GUARD),
    "logits": Part("keyword without its softmax", every=False, vectors=10, guard=0),
}


def part_of_keyword(part: Part) -> bytes:
    """Return keyword without its SOFTMAX, with the outputs of the part."""
    model = schema.ModelT.InitFromPackedBuf((WHOLE / "keyword.tflite").read_bytes())
    (graph,) = model.subgraphs
    made = [int(operator.outputs[0]) for operator in graph.operators[:-1]]
    (softmax,) = graph.operators[-1].outputs
    graph.operators = graph.operators[:-1]
    del graph.tensors[softmax]
    assert softmax == len(graph.tensors)
    graph.outputs = made if part.every else made[-1:]
    model.signatureDefs = []
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def write_part(name: str, folder: Path) -> None:
    """Write the files of a part of keyword.

    All test vectors of keyword calibrate it, so that its sums are scaled as those of keyword.

    Args:
        name: A key of `PARTS`.
        folder: Folder of the files; it is created if necessary.
    """
    part = PARTS[name]
    calibration = np.load(WHOLE / "inputs.npy")
    guard = f", guard: {part.guard}" if part.guard else ""
    more = f"network: {{neural_art: {{calibration: calibration.npy{guard}}}}}\n"
    _write(folder, name, part.what, part_of_keyword(part), calibration[: part.vectors], more)
    np.save(folder / "calibration.npy", calibration)
    np.save(folder / "expected.npy", _by_the_npu(folder, name))


def _by_the_npu(folder: Path, name: str) -> NDArray[np.int8]:
    """Return the outputs of the model of the NPU: vectors x all outputs.

    Each epoch is computed from the results of the epochs before it.
    """
    board = load_board("nucleo-n657")
    file = folder / f"{name}.tflite"
    graph = graph_of(file)
    calibration = Calibration(reference_tensors(file, graph, folder / "calibration.npy").values, NpuOptions().margin)
    request = Request(file, "network", pools_of_networks(board, "extflash", [{}])[0], own_version(), ())
    compiled = compile_for_npu(board.soc.npu, request, graph, calibration, {})
    found = free_tensors(find_program(board.soc), compiled, reference_tensors(file, graph, folder / "inputs.npy"))
    outputs = [found[port.buffer][0] for port in compiled.lowered.network.outputs]
    return np.concatenate(outputs, axis=1).astype(np.int8)


def write_all(folder: Path) -> None:
    """Write all rungs, each into its own folder below `folder`."""
    for seed, name in enumerate(RUNGS, 1):
        write(name, seed, folder / name)
    for name in PARTS:
        write_part(name, folder / name)


if __name__ == "__main__":
    write_all(HERE)
