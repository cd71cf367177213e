"""Operators that move elements without changing them.

Each operator is described once, in numpy, by pairs of views of its output and of its inputs. The
views of a pair have equal shapes. With placeholders for the tensors, the pairs become calls of one
kernel, or show that the output is already in the input. With constants, the pairs are carried out
when the model is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import Member, Structure, kernel_with, of_type, reads, writes
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import DType, Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, fields_of, operand
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import CONVERT, Problem, Rule, shown

Array = NDArray[Any]

# Types of elements that can be moved.
MOVABLE: tuple[DType, ...] = ("int8", "uint8", "int16", "int32", "int64", "float32", "bool")
_NUMPY = {dtype: np.dtype(dtype).newbyteorder("<") for dtype in MOVABLE}
# Loops of the kernel: as many as the dimensions that a model's tensors may have.
_LOOPS = 6
# Size from which on the innermost loop is long.
_LONG = 16
# Bytes of the largest constant that is folded.
MAX_FOLDED = 1 << 24

_LOOP = Structure(
    "n6k_step_t",
    (Member("size", "uint32_t"), Member("in_step", "int32_t"), Member("out_step", "int32_t")),
    doc="How often something is repeated, and by how many bytes input and output go on each time.",
)
MOVE = kernel_with(
    "move",
    Member("input", reads("void")),
    Member("output", writes("void")),
    *of_type("uint32_t", "in_offset", "out_offset", "bytes"),
    *(Member(f"loop_{level}", _LOOP) for level in range(_LOOPS)),
    doc="Elements moved: loops inside one another, loop_0 the outermost, of copies of `bytes` adjacent bytes. in_offset, "
    "out_offset: of the first byte.",
)


@dataclass(frozen=True)
class Pair:
    """Two views of equal shape: elements move from the source to the target.

    Attributes:
        target: View of the output.
        source: View of the input at `position`, or of one given element.
        position: Position of the input; None for one given element.
    """

    target: Array
    source: Array
    position: int | None = 0


# Function that makes the pairs of an operator. Absent inputs are None.
Pairs = Callable[[Operands, tuple[Array | None, ...], Array], Iterable[Pair]]


@dataclass(frozen=True)
class _Move:
    """A pair as the kernel carries it out, with all distances in bytes.

    Attributes:
        position: Position of the input, or None.
        value: The one element if there is no position.
        in_offset: Offset of the first byte in the input.
        out_offset: Offset of the first byte in the output.
        bytes: Adjacent bytes of one copy.
        loops: (size, step of the input, step of the output), outermost first.
    """

    position: int | None
    value: Array
    in_offset: int
    out_offset: int
    bytes: int
    loops: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Movement:
    """The movement of an operator's elements.

    Attributes:
        pairs: Function that makes the pairs; raises ValueError or IndexError if operands do not fit
            together.
    """

    pairs: Pairs

    def check(self, operands: Operands) -> Iterator[Problem]:
        """Check that every element of the output is written once."""
        try:
            arrays, output = _stand_ins(operands)
            pairs = [*self.pairs(operands, arrays, output)]
            fits = all(
                pair.target.shape == pair.source.shape and pair.target.dtype == pair.source.dtype for pair in pairs
            )
            fits = fits and sum(pair.target.size for pair in pairs) == output.size
        except (ValueError, IndexError, ZeroDivisionError, OverflowError):
            fits = False
        if not fits:
            yield Problem("N6-NET-007", _does_not_make(operands), CONVERT)

    def lower(self, operands: Operands) -> list[KernelCall]:
        """Return one call for each pair, in their order."""
        return [_call(operands, move) for move in self._moves(operands)]

    def view(self, operands: Operands) -> int | None:
        """Return the output's offset in the moved input in bytes, or None.

        It is None if the output is not adjacent bytes of the input.
        """
        moves = self._moves(operands)
        if len(moves) != 1 or moves[0].loops or moves[0].bytes != operands.output.bytes:
            return None
        position = moves[0].position
        return moves[0].in_offset if position is not None and operands.required(position).data is None else None

    def parts(self, operands: Operands) -> list[int | None]:
        """Return the offset of each input in the output in bytes.

        It is None for an input that is not one part of the output.
        """
        found: list[int | None] = [None] * len(operands.inputs)
        for move in self._moves(operands):
            tensor = None if move.position is None else operands.required(move.position)
            if tensor and tensor.data is None and not move.loops and move.bytes == tensor.bytes:
                found[move.position or 0] = move.out_offset
        return found

    def fold(self, operands: Operands) -> Array | None:
        """Return the output if all inputs are constants and fit together, or None."""
        inputs = tuple(None if tensor is None else tensor.data for tensor in operands.inputs)
        absent = any(tensor is not None and tensor.data is None for tensor in operands.inputs)
        if absent or operands.output.bytes > MAX_FOLDED or next(self.check(operands), None):
            return None
        output = np.empty(operands.output.shape, _NUMPY[operands.output.dtype])
        for pair in self.pairs(operands, inputs, output):
            pair.target[...] = pair.source
        return output

    def _moves(self, operands: Operands) -> list[_Move]:
        arrays, output = _stand_ins(operands)
        pairs = self.pairs(operands, arrays, output)
        return [_move(pair, arrays, output) for pair in pairs if pair.target.size > 0]


def known(array: Array | None) -> Array:
    """Return an input that a rule has checked to be present."""
    assert array is not None
    return array


def regrouped(array: Array, shape: Iterable[int]) -> Array:
    """Return a whole tensor as a view of another shape.

    Raises:
        ValueError: The shape has another number of elements.
    """
    assert array.flags.c_contiguous, "only a whole tensor can be regrouped without a copy"
    return array.reshape(tuple(shape))


def integers(operands: Operands, position: int) -> list[int]:
    """Return the elements of a constant that a rule has checked."""
    data = operands.required(position).data
    assert data is not None
    return [int(value) for value in data.reshape(-1).tolist()]


def axis_in(axis: int, rank: int) -> int:
    """Return an axis counted from 0; a negative axis counts from the end.

    Raises:
        ValueError: The axis is out of range.
    """
    if not -rank <= axis < rank:
        raise ValueError(f"no axis {axis} of {rank}")
    return axis % rank


def along(array: Array, axis: int, index: int | slice) -> Array:
    """Return the elements at an index, or in a range, of one dimension.

    Raises:
        IndexError: The index is out of range.
    """
    return array[(*(slice(None),) * axis, index, ...)]


def filled(target: Array, value: float) -> Pair:
    """Return a pair that sets every element of `target`."""
    element = np.array(value).astype(target.dtype)
    return Pair(target, np.broadcast_to(element, target.shape), None)


def _stand_ins(operands: Operands) -> tuple[tuple[Array | None, ...], Array]:
    """Return placeholder arrays with the tensors' shapes and types.

    Their elements do not exist.
    """
    inputs = tuple(None if tensor is None else _stand_in(tensor) for tensor in operands.inputs)
    return inputs, _stand_in(operands.output)


def _stand_in(tensor: Tensor) -> Array:
    element = np.zeros(1, _NUMPY[tensor.dtype])
    steps = [element.itemsize]
    for size in tensor.shape[:0:-1]:
        steps.insert(0, steps[0] * size)
    return np.lib.stride_tricks.as_strided(element, tensor.shape, steps[: len(tensor.shape)])


def _move(pair: Pair, inputs: tuple[Array | None, ...], output: Array) -> _Move:
    sizes = zip(pair.target.shape, pair.source.strides, pair.target.strides, strict=True)
    # The loops follow the order of the output's bytes.
    loops = sorted((loop for loop in sizes if loop[0] > 1), key=lambda loop: -loop[2])
    merged: list[tuple[int, int, int]] = []
    for size, in_step, out_step in [*loops, (1, pair.target.itemsize, pair.target.itemsize)]:
        if merged and merged[-1][1:] == (size * in_step, size * out_step):
            merged[-1] = (merged[-1][0] * size, in_step, out_step)
        else:
            merged.append((size, in_step, out_step))
    # The last loop is a run of adjacent elements in both arrays.
    *rest, (run, each, _) = merged
    assert len(rest) <= _LOOPS
    # The longest loop costs least as the innermost one, unless that one is long already and writes without gaps.
    if rest and not (rest[-1][0] >= _LONG and rest[-1][2] == run * each):
        rest.append(rest.pop(max(range(len(rest)), key=lambda level: rest[level][0])))
    source = pair.source if pair.position is None else known(inputs[pair.position])
    return _Move(
        pair.position,
        np.array(pair.source.flat[:1]) if pair.position is None else output.reshape(-1)[:0],
        _start(pair.source) - _start(source),
        _start(pair.target) - _start(output),
        run * each,
        tuple(rest),
    )


def _start(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _call(operands: Operands, move: _Move) -> KernelCall:
    loops = [(1, 0, 0)] * (_LOOPS - len(move.loops)) + [*move.loops]
    arguments: dict[str, Argument] = {
        "input": _source(operands, move),
        "output": operands.output,
        "in_offset": move.in_offset,
        "out_offset": move.out_offset,
        "bytes": move.bytes,
    }
    return KernelCall(MOVE, arguments | {f"loop_{level}": _loop(*loop) for level, loop in enumerate(loops)})


def _source(operands: Operands, move: _Move) -> Argument:
    if move.position is None:
        return Constant(operands.output.dtype, move.value)
    return operand(operands.required(move.position))


def _loop(size: int, in_step: int, out_step: int) -> Fields:
    return fields_of(_LOOP, {"size": size, "in_step": in_step, "out_step": out_step})


def _does_not_make(operands: Operands) -> str:
    given = " and ".join(f"{shown(tensor)} {list(tensor.shape)}" for tensor in operands.inputs if tensor is not None)
    return f"{given} do not make tensor {shown(operands.output)} {list(operands.output.shape)}"


def regroup(_: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    """Yield the pair that moves the same elements into the output's shape."""
    yield Pair(output, regrouped(known(inputs[0]), output.shape))


def moving(
    name: str,
    label: str,
    pairs: Pairs,
    inputs: tuple[tuple[DType, ...], ...],
    *,
    constants: tuple[int, ...] = (),
    options: OptionsReader | None = None,
    source: int = 0,
    several_outputs: bool = False,
) -> OperatorKind:
    """Return an operator that only moves elements.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        pairs: Function that makes the pairs of its movement.
        inputs: Allowed types by position, as in `Rule`; all inputs are required.
        constants: Positions that have to hold constants, as in `Rule`.
        options: Reader of the operator's options, or None.
        source: Position of the input that is moved.
        several_outputs: True if the operator has several outputs.
    """
    movement, first = Movement(pairs), source > 0
    return OperatorKind(
        name=name,
        label=label,
        rule=Rule(
            inputs, len(inputs), constants, MOVABLE, movement.check, first_may_be_constant=first, quantised=False
        ),
        lower=movement.lower,
        kernels=(MOVE,),
        options=options,
        view=movement.view,
        several_outputs=several_outputs,
        viewed=source,
        fold=movement.fold,
    )
