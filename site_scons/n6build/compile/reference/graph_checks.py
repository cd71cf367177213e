"""Checks that every operator has the tensors that its rule requires.

One error names the operator, the tensor and the cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from n6build.compile.reference.graph import DType, Graph, Operator, Quantisation, Refusal
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import Operands, operands_of
from n6build.compile.reference.refusals import error_of, nearest_change
from n6build.compile.reference.rules import CONVERT, QUANTISE, Problem, Rule, check_per_tensor, shown
from n6build.compile.reference.windows import MAX_DIMENSION

_QUANTISED: frozenset[DType] = frozenset(("int8", "uint8", "int16"))


def check_graph(graph: Graph, where: str) -> None:
    """Check that every operator of a graph can be compiled.

    Args:
        graph: Graph of the model.
        where: Name of the model file, for the message.

    Raises:
        N6Error: One error for all operators that cannot be compiled, with the id of the first:
            N6-NET-003 if the operator is unsupported; N6-NET-004 if a type is; N6-NET-005 for a
            shape or batch; N6-NET-006 for a quantisation; N6-NET-007 if operands do not match;
            N6-NET-008 for options.
    """
    refusals = {refusal.operator: refusal for refusal in graph.refused}
    for operator in graph.operators:
        problem = None if operator.added or operator.index in refusals else problem_of(graph, operator)
        if problem:
            text = f"{operator}: {problem.what}"
            refusals[operator.index] = Refusal(
                operator.index, operator.kind, problem.id, text, problem.hint, problem.dtype
            )
    if refusals:
        raise error_of(graph, [refusals[index] for index in sorted(refusals)], where)


def problem_of(graph: Graph, operator: Operator) -> Problem | None:
    """Return the first problem of an operator, or None."""
    rule = KINDS[operator.kind].rule
    operands = operands_of(graph, operator)
    checks = (
        _check_arity(operands, rule),
        _check_types(operands, rule),
        _check_first(operands, rule, operator.output in graph.outputs),
        _check_states(operands, rule),
        _check_activation_quantisation(operands, rule),
        _check_dimensions(operands),
    )
    for check in checks:
        problem = next(check, None)
        if problem:
            return problem
    return next(rule.check(operands), None)


def _check_arity(operands: Operands, rule: Rule) -> Iterator[Problem]:
    present = [position for position in range(rule.required) if operands.optional(position) is not None]
    most = max(rule.most, len(rule.inputs))
    if len(present) < rule.required or len(operands.inputs) > most:
        yield Problem("N6-NET-007", f"has {len(operands.inputs)} inputs, not {most}", CONVERT)


def _check_types(operands: Operands, rule: Rule) -> Iterator[Problem]:
    pairs = [(tensor, rule.types_of(position)) for position, tensor in enumerate(operands.inputs) if tensor is not None]
    for tensor, types in [*pairs, (operands.output, rule.output)]:
        if tensor.dtype not in types:
            # If no quantised type is allowed, quantising the model does not help.
            helps = tensor.dtype not in _QUANTISED or not _QUANTISED.isdisjoint(types)
            hint = QUANTISE if helps else nearest_change(operands.operator.kind)
            yield Problem("N6-NET-004", f"tensor {shown(tensor)} has to be {' or '.join(types)}", hint, tensor.dtype)
    for position, operand in enumerate(operands.inputs):
        if operand is not None and position in rule.constants and operand.data is None:
            yield Problem("N6-NET-007", f"tensor {shown(operand)} has to be a constant", "freeze the model's weights")


def _check_first(operands: Operands, rule: Rule, makes_output: bool) -> Iterator[Problem]:
    """Refuse a constant at position 0.

    An output of the network that only constants decide is made by an epoch anyway.
    """
    first = operands.optional(0)
    if first is None or first.data is None or rule.first_may_be_constant:
        return
    if not makes_output or any(each is not None and each.data is None for each in operands.inputs):
        yield Problem("N6-NET-007", f"tensor {shown(first)} is a constant", "fold constants before converting")


def _check_states(operands: Operands, rule: Rule) -> Iterator[Problem]:
    for position, operand in enumerate(operands.inputs):
        if operand is not None and operand.is_state != (position in rule.states):
            what = "is a variable" if operand.is_state else "has to be a variable, which keeps the operator's state"
            yield Problem("N6-NET-007", f"tensor {shown(operand)} {what}", CONVERT)


def _check_activation_quantisation(operands: Operands, rule: Rule) -> Iterator[Problem]:
    candidates = [
        tensor for position, tensor in enumerate(operands.inputs) if tensor and position not in rule.constants
    ]
    for candidate in [*candidates, operands.output]:
        if candidate.dtype in ("int8", "uint8", "int16"):
            if rule.quantised or candidate.quantisation:
                yield from check_per_tensor(candidate)
        elif candidate.quantisation and not _can_be_written(candidate.quantisation):
            yield Problem("N6-NET-006", f"tensor {shown(candidate)} has a scale or zero point out of range", CONVERT)


def _can_be_written(quantisation: Quantisation) -> bool:
    """Return whether the network's description can hold a quantisation.

    Nothing is computed with it.
    """
    return math.isfinite(quantisation.scale) and abs(quantisation.zero_point) < 1 << 15


def _check_dimensions(operands: Operands) -> Iterator[Problem]:
    for tensor in (*operands.inputs, operands.output):
        if tensor is not None and len(tensor.shape) == 4 and max(tensor.shape) > MAX_DIMENSION:
            yield Problem(
                "N6-NET-005",
                f"tensor {shown(tensor)} has the shape {list(tensor.shape)}",
                f"reduce its dimensions to {MAX_DIMENSION} at most",
            )
