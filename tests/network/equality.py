"""Comparison of a compiled network with the reference, tensor by tensor."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import reference_interpreter
from movement_models import random_inputs
from numpy.typing import NDArray

from network.host_network import HostNetwork


def tensors_of(model: bytes, inputs: Sequence[NDArray[np.generic]]) -> dict[str, bytes]:
    """Return the reference interpreter's tensors by operator.

    The key is '<index>', or '<index>_<part>' for further outputs of an operator.
    """
    return tensors_of_inferences(model, [inputs])[0]


def tensors_of_inferences(model: bytes, runs: Sequence[Sequence[NDArray[np.generic]]]) -> list[dict[str, bytes]]:
    """Return `tensors_of` for several inferences of one interpreter in sequence."""
    interpreter = reference_interpreter.load(model, preserve_all_tensors=True)
    return [_tensors_of(interpreter, inputs) for inputs in runs]


def _tensors_of(interpreter: Any, inputs: Sequence[NDArray[np.generic]]) -> dict[str, bytes]:
    for detail, values in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], values.reshape(detail["shape"]))
    interpreter.invoke()
    assigned = {
        f"{operator['index']}": interpreter.get_tensor(operator["inputs"][1]).tobytes()
        for operator in interpreter._get_ops_details()
        if operator["op_name"] == "ASSIGN_VARIABLE"
    }
    return assigned | {
        f"{operator['index']}" + (f"_{part}" if part else ""): interpreter.get_tensor(index).tobytes()
        for operator in interpreter._get_ops_details()
        if operator["op_name"] != "VAR_HANDLE"
        for part, index in enumerate(operator["outputs"])
    }


def assert_equal_everywhere(network: HostNetwork, model: bytes, inputs: list[NDArray[np.generic]]) -> tuple[int, int]:
    """Check that all tensors are equal; return (tensors, bytes) compared."""
    expected = tensors_of(model, inputs)
    computed = network.trace(inputs)
    _assert_equal(network, computed, expected)
    # At the end, an application still reads the bytes that the epoch left. A buffer that is made of parts has no epoch
    # of its own.
    for name, data in network.final.items():
        assert data == (computed.get(name) or _without_epoch(name, network, expected, inputs)), name
    return len(computed), sum(map(len, computed.values()))


def assert_sent(sent: bytes, expected: Iterable[tuple[str, bytes]]) -> None:
    """Check that a target program sent these tensors, one behind the other."""
    offset = 0
    for name, wanted in expected:
        assert sent[offset : offset + len(wanted)] == wanted, f"{name} differs"
        offset += len(wanted)
    assert offset == len(sent)


def assert_exact(
    network: HostNetwork, model: bytes, seeds: Iterable[int] = (1,), kinds: Sequence[str] | None = None
) -> None:
    """Check the kinds of a network's epochs, and its tensors for random inputs.

    Args:
        network: The network.
        model: Its model.
        seeds: Those of the inputs.
        kinds: The kinds; None if they do not matter.
    """
    assert kinds is None or [epoch.kind for epoch in network.artifacts.epochs] == kinds
    for seed in seeds:
        assert_equal_everywhere(network, model, random_inputs(model, seed))


def assert_equal_in_every_inference(
    network: HostNetwork, model: bytes, runs: Sequence[Sequence[NDArray[np.generic]]]
) -> None:
    """Check all tensors of consecutive inferences.

    The network keeps its states in between.
    """
    for computed, expected in zip(network.trace_inferences(runs), tensors_of_inferences(model, runs), strict=True):
        _assert_equal(network, computed, expected)


def _assert_equal(network: HostNetwork, computed: Mapping[str, bytes], expected: Mapping[str, bytes]) -> None:
    # The reference shows a variable where it is read.
    others = ("_part_", "AssignVariable_")
    whole = [epoch for epoch in network.artifacts.epochs if not any(name in epoch.name for name in others)]
    assert len(computed) == len(whole), "an epoch's output was not seen"
    for name, data in computed.items():
        operator = re.fullmatch(r"[A-Za-z0-9]+_(\d+(?:_\d+)?)_out_0", name)
        assert operator, name
        wanted = expected[operator[1]]
        different = sum(a != b for a, b in zip(data, wanted, strict=True))
        assert different == 0, f"{name}: {different} of {len(wanted)} bytes differ"


def _without_epoch(
    name: str, network: HostNetwork, expected: Mapping[str, bytes], inputs: list[NDArray[np.generic]]
) -> bytes:
    """Return the expected bytes of a buffer that no single epoch makes.

    The buffer is an input that is also an output, or an output that other epochs make part by part.
    """
    names = [each for each, _, _ in network.inputs]
    return inputs[names.index(name)].tobytes() if name in names else expected[name.split("_")[1]]
