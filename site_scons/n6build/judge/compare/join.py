"""Join of a compiled network's inputs and outputs with those of its model.

It also converts values between them. A compiler may change the type (int8 to uint8), leave conversions
out, and move the channels. An ambiguous join is refused: a comparison in the wrong order would look
like a fault of the network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer
from n6build.judge.compare.memory_order import without_ones
from n6build.judge.compare.tensors import Port

# Scales may differ: they are written as text with 15 digits, or rounded to 32 bits.
_SCALES = 1e-5
_UNSIGNED = 128
_HINT = (
    "set reference.model in model.yaml to the file that the network was compiled from, or vectors.expected to "
    "stored outputs"
)


@dataclass(frozen=True)
class Joined:
    """An input or output of the network with that of the model.

    Attributes:
        network: The input or output of the network.
        model: The input or output of the model.
        place: Its place in the model.
        channels: Place of the network's channels, if the model has them elsewhere.
    """

    network: IoBuffer
    model: Port
    place: int
    channels: Literal["as they are", "last", "first"]

    def for_model(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return values of the network in the model's type, shape and order."""
        made = _converted(values, self.network, self.model)
        if self.channels == "last":
            made = np.moveaxis(made.reshape(_last(self.model.shape)), -1, 1)
        elif self.channels == "first":
            made = np.moveaxis(made.reshape(_first(self.model.shape)), 1, -1)
        return np.ascontiguousarray(made).reshape(self.model.shape)

    def for_network(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return values of the model in the network's type, shape and order."""
        made = values.reshape(self.model.shape)
        if self.channels != "as they are":
            made = np.moveaxis(made, 1, -1) if self.channels == "last" else np.moveaxis(made, -1, 1)
        made = _converted(np.ascontiguousarray(made), self.model, self.network)
        return made.reshape(self.network.shape)


def join(
    network: Sequence[IoBuffer],
    model: Sequence[Port],
    what: Literal["input", "output"],
    *,
    channels_last: bool,
    by_graph: Callable[[], Mapping[str, str]] = dict,
) -> tuple[Joined, ...]:
    """Join inputs or outputs, in the network's order.

    Args:
        network: Inputs or outputs of the network.
        model: Inputs or outputs of the model.
        what: The joined kind, for messages.
        channels_last: True if the model has its channels last.
        by_graph: Returns the names in the model by those in the network, as far as its graph determines
            them. It is called only for several that are alike.

    Raises:
        N6Error: N6-COMPARE-004 if the join is ambiguous.
    """
    if len(network) != len(model):
        raise _unsure(f"the network has {len(network)} {what}s, but the model has {len(model)}")
    joined = []
    for each in network:
        found = [_joined(each, port, place, channels_last) for place, port in enumerate(model)]
        fitting = [one for one in found if isinstance(one, Joined)]
        if not fitting:
            raise _unsure(f"{what} {each.name} of the network matches none of the model: {found[0]}")
        by_name = [one for one in fitting if one.model.name in (each.name, each.original)]
        if len(fitting) > 1 and not by_name:
            known = by_graph().get(each.name)
            by_name = [one for one in fitting if one.model.name == known]
        joined.append(_only(each, by_name or fitting, what))
    if len({one.place for one in joined}) != len(joined):
        raise _unsure(f"several {what}s of the network match the same one of the model")
    return tuple(joined)


def _only(network: IoBuffer, fitting: Sequence[Joined], what: str) -> Joined:
    if len(fitting) > 1:
        names = " or ".join(f"'{one.model.name}'" for one in fitting)
        raise _unsure(f"{what} {network.name} of the network matches {names} of the model")
    return fitting[0]


def _unsure(why: str) -> N6Error:
    return N6Error("N6-COMPARE-004", f"cannot be compared with its model: {why}", hint=_HINT)


def _joined(network: IoBuffer, model: Port, place: int, channels_last: bool) -> Joined | str:
    """Return the join, or the reason why both cannot be the same."""
    told = f"{_told(network)} against {_told(model)}"
    if not _convertible(network, model):
        return f"{told}: different quantisation"
    channels = _channels(network.shape, model.shape, channels_last)
    if channels is None:
        return f"{told}: different shape"
    return Joined(network, model, place, channels)


def _told(port: IoBuffer | Port) -> str:
    quantised = "" if port.type == "float32" else f", scale {port.scale:.8g}, zero point {port.zero_point}"
    return f"{port.type} {list(port.shape)}{quantised}"


def _channels(
    network: tuple[int, ...], model: tuple[int, ...], channels_last: bool
) -> Literal["as they are", "last", "first"] | None:
    sizes = without_ones(network)
    same = sizes == without_ones(model)
    if len(model) < 3 or (same and channels_last):
        # Compilers keep the channels of TFLite in place; they may move those of ONNX.
        return "as they are" if same else None
    if channels_last:
        return "first" if sizes == without_ones(_first(model)) else None
    moved = sizes == without_ones(_last(model))
    if same and moved and 1 not in (model[1], math.prod(model[2:])):
        # A cube looks the same either way.
        return None
    return "as they are" if same else "last" if moved else None


def _last(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], *shape[2:], shape[1])


def _first(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[0], shape[-1], *shape[1:-1])


def _convertible(network: IoBuffer, model: Port) -> bool:
    kinds = {network.type, model.type}
    if kinds == {"float32"}:
        return True
    if "float32" in kinds:
        quantised = model if network.type == "float32" else network
        return quantised.type in ("int8", "uint8", "int16", "uint16")
    if not math.isclose(network.scale, model.scale, rel_tol=_SCALES):
        return False
    difference = network.zero_point - model.zero_point
    return difference == _shift(model.type, network.type)


def _shift(source: str, target: str) -> int | None:
    """Return the offset between signed and unsigned 8-bit values.

    It is 0 for equal types, and None for other types.
    """
    if source == target:
        return 0
    return {("int8", "uint8"): _UNSIGNED, ("uint8", "int8"): -_UNSIGNED}.get((source, target))


def _converted(values: NDArray[np.generic], source: IoBuffer | Port, target: IoBuffer | Port) -> NDArray[np.generic]:
    if source.type == target.type:
        return values
    if target.type == "float32":
        steps = values.astype(np.float32) - np.float32(source.zero_point)
        return np.asarray(steps * np.float32(source.scale), np.float32)
    limits = np.iinfo(target.type)
    if source.type == "float32":
        rounded = np.rint(np.nan_to_num(values.astype(np.float64)) / target.scale) + target.zero_point
        return np.asarray(np.clip(rounded, limits.min, limits.max), target.type)
    return (values.astype(np.int64) + (_shift(source.type, target.type) or 0)).astype(target.type)
