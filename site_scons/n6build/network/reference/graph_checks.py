"""Whether every operator has the tensors that its rule asks for. One error names operator, tensor and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.errors import N6Error
from n6build.network.reference.graph import Graph, Operator
from n6build.network.reference.kinds import KINDS
from n6build.network.reference.operands import Operands, operands_of
from n6build.network.reference.rules import CONVERT, QUANTISE, Problem, Rule, check_per_tensor, shown
from n6build.network.reference.windows import MAX_DIMENSION


def check_graph(graph: Graph, where: str) -> None:
    """Raises N6-NET-004 (type), N6-NET-005 (shape or batch), N6-NET-006 (quantisation), N6-NET-007 (operands do not match), for
    the first operator in question; the message says how many more are like it."""
    problems = [(operator, problem) for operator in graph.operators if (problem := _problem(graph, operator))]
    if not problems:
        _check_batches(graph, where)
        return
    operator, problem = problems[0]
    alike = sum(other.id == problem.id for _, other in problems[1:])
    more = f" (and {alike} more like it)" if alike else ""
    raise N6Error(problem.id, f"{operator}: {problem.what}{more}", where=where, hint=problem.hint)


def _problem(graph: Graph, operator: Operator) -> Problem | None:
    rule = KINDS[operator.kind].rule
    operands = operands_of(graph, operator)
    checks = (
        _check_arity(operands, rule),
        _check_types(operands, rule),
        _check_activation_quantisation(operands, rule),
        _check_dimensions(operands),
    )
    for check in checks:
        problem = next(check, None)
        if problem:
            return problem
    return next(rule.check(operands), None)


def _check_batches(graph: Graph, where: str) -> None:
    for index in (*graph.inputs, *graph.outputs):
        tensor = graph.tensors[index]
        if len(tensor.shape) == 4 and tensor.shape[0] != 1:
            raise N6Error(
                "N6-NET-005",
                f"tensor {shown(tensor)} has a batch of {tensor.shape[0]}: shape {list(tensor.shape)}",
                where=where,
                hint="convert the model with batch 1",
            )


def _check_arity(operands: Operands, rule: Rule) -> Iterator[Problem]:
    present = [position for position in range(rule.required) if operands.optional(position) is not None]
    most = max(rule.most, len(rule.inputs))
    if len(present) < rule.required or len(operands.inputs) > most:
        yield Problem("N6-NET-007", f"has {len(operands.inputs)} inputs, not {most}", CONVERT)


def _check_types(operands: Operands, rule: Rule) -> Iterator[Problem]:
    pairs = [(tensor, rule.types_of(position)) for position, tensor in enumerate(operands.inputs) if tensor is not None]
    for tensor, types in [*pairs, (operands.output, rule.output)]:
        if tensor.dtype not in types:
            yield Problem("N6-NET-004", f"tensor {shown(tensor)} has to be {' or '.join(types)}", QUANTISE)
    for position, operand in enumerate(operands.inputs):
        if operand is not None and position in rule.constants and operand.data is None:
            yield Problem("N6-NET-007", f"tensor {shown(operand)} has to be a constant", "freeze the model's weights")
        if operand is not None and position == 0 and operand.data is not None and not rule.first_may_be_constant:
            yield Problem("N6-NET-007", f"tensor {shown(operand)} is a constant", "fold constants before converting")


def _check_activation_quantisation(operands: Operands, rule: Rule) -> Iterator[Problem]:
    candidates = [
        tensor for position, tensor in enumerate(operands.inputs) if tensor and position not in rule.constants
    ]
    for candidate in [*candidates, operands.output]:
        if candidate.dtype in ("int8", "uint8", "int16"):
            yield from check_per_tensor(candidate)


def _check_dimensions(operands: Operands) -> Iterator[Problem]:
    for tensor in (*operands.inputs, operands.output):
        if tensor is not None and len(tensor.shape) == 4 and max(tensor.shape) > MAX_DIMENSION:
            yield Problem(
                "N6-NET-005", f"tensor {shown(tensor)} has the shape {list(tensor.shape)}", f"at most {MAX_DIMENSION}"
            )
