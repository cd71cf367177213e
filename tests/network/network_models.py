"""Model files for the tests of the network compiler: own and edited ones."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.reference.compile_model import compile_network
from numpy.typing import NDArray
from one_op_models import buffer_of, packed, tree_of

from network.host_network import extflash

ROOT = Path(__file__).parents[2]
Change = Callable[[Any], None]


def own_models() -> list[Path]:
    return sorted(path for path in (ROOT / "models").glob("*/*.tflite"))


def as_file(model: bytes, folder: Path, name: str = "model.tflite") -> Path:
    """Write a model, and return its path."""
    (folder / name).write_bytes(model)
    return folder / name


def edit(model: bytes, change: Callable[[Any], object]) -> bytes:
    """Return the model after `change` of its object tree (schema.ModelT)."""
    tree = tree_of(model)
    change(tree)
    return packed(tree)


def chain(*models: bytes) -> bytes:
    """Return a network of these one-operator models in sequence.

    The output of each is the first input of the next. All further inputs are inputs of the network.
    """
    trees = [tree_of(model) for model in models]
    result = trees[0]
    graph = result.subgraphs[0]
    for tree in trees[1:]:
        other = tree.subgraphs[0]
        first_input = int(other.operators[0].inputs[0])
        tensor_base, buffer_base, code_base = len(graph.tensors), len(result.buffers), len(result.operatorCodes)
        previous = int(graph.operators[-1].outputs[0])

        def renumbered(index: int, base: int = tensor_base, joint: int = first_input, to: int = previous) -> int:
            return to if index == joint else (index if index < 0 else index + base)

        for tensor in other.tensors:
            tensor.buffer = tensor.buffer + buffer_base if tensor.buffer else 0
        for operator in other.operators:
            operator.opcodeIndex += code_base
            operator.inputs = [renumbered(int(index)) for index in operator.inputs]
            operator.outputs = [renumbered(int(index)) for index in operator.outputs]
        graph.inputs = [*map(int, graph.inputs), *(renumbered(int(i)) for i in other.inputs if int(i) != first_input)]
        graph.tensors += other.tensors
        graph.operators += other.operators
        result.buffers += tree.buffers
        result.operatorCodes += tree.operatorCodes
    graph.outputs = [int(graph.operators[-1].outputs[0])]
    return packed(result)


def model_error(model: bytes, folder: Path) -> N6Error:
    """Return the error that refuses a model: one with a hint, which leaves no files."""
    file = as_file(model, folder, "subject.tflite")
    out = folder / "out"
    with pytest.raises(N6Error) as caught:
        compile_network(file, extflash(), out)
    assert not out.exists(), "a failed compilation left files"
    assert caught.value.where == "subject.tflite"
    assert caught.value.hint
    return caught.value


def mutated(data: st.DataObject, model: bytes, most: int) -> bytes:
    """Return a model with some bytes and words of 32 bits overwritten."""
    made = bytearray(model)
    for _ in range(data.draw(st.integers(1, most))):
        position = data.draw(st.integers(0, len(made) - 5))
        if data.draw(st.booleans()):
            made[position] = data.draw(st.integers(0, 255))
        else:
            extremes = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, len(made), len(made) - 4)
            word = data.draw(st.one_of(st.sampled_from(extremes), st.integers(0, 0xFFFFFFFF)))
            made[position : position + 4] = word.to_bytes(4, "little")
    return bytes(made)


def compile_or_refuse(model: bytes, folder: Path) -> None:
    """Compile a model, or check that an error of ours refuses it."""
    try:
        compile_network(as_file(model, folder), extflash(), folder / "out")
    except N6Error as error:
        assert error.id.startswith(("N6-NET-", "N6-FILE-"))
        assert str(error).isprintable() or "\n" in str(error)


def set_tensor(index: int, **members: object) -> Change:
    """Return a change of a tensor's members."""
    return _changed(lambda tree: tree.subgraphs[0].tensors[index], members)


def set_quantisation(index: int, **members: object) -> Change:
    """Return a change of a tensor's quantisation."""
    return _changed(lambda tree: tree.subgraphs[0].tensors[index].quantization, members)


def set_operator(index: int = 0, **members: object) -> Change:
    """Return a change of an operator."""
    return _changed(lambda tree: tree.subgraphs[0].operators[index], members)


def set_options(index: int = 0, graph: int = 0, **members: object) -> Change:
    """Return a change of an operator's options."""
    return _changed(lambda tree: tree.subgraphs[graph].operators[index].builtinOptions, members)


def set_code(position: int, code: int, custom: bytes | None = None) -> Change:
    """Return a change of an operator into another one, or into a custom one."""

    def change(tree: Any) -> None:
        found = tree.operatorCodes[position]
        found.builtinCode, found.deprecatedBuiltinCode, found.customCode = code, min(code, 127), custom

    return change


def freeze(index: int, data: NDArray[np.generic]) -> Change:
    """Return a change that makes a tensor a constant."""

    def change(tree: Any) -> None:
        graph = tree.subgraphs[0]
        graph.tensors[index].buffer = buffer_of(tree, data)
        graph.inputs = [int(each) for each in graph.inputs if int(each) != index]

    return change


def _changed(find: Callable[[Any], Any], members: Mapping[str, object]) -> Change:
    def change(tree: Any) -> None:
        for name, value in members.items():
            setattr(find(tree), name, value)

    return change
