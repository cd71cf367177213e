"""NonMaxSuppression: the best boxes of each class.

Boxes that overlap a better one are left out. The number of selected boxes depends on the input. The
output has a row for each box that can be selected, and -1 in the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n6build.compile.reference.descriptors import Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.kernel_call import KernelCall, operand
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT64, Problem, Rule, check_elements

# Batch, class and box of a selected box.
NUMBERS_EACH = 3

_KERNEL = kernel_with(
    "float_non_max_suppression",
    *of_type(reads("float"), "boxes", "scores"),
    Member("output", writes("int64_t")),
    *of_type("uint32_t", "batches", "classes", "count"),
    Member("most", "uint32_t", note="of a class, at most count"),
    *of_type("float", "least_score", "most_overlap"),
    *of_type("uint8_t", "limited", "by_centre"),
    doc="boxes [batches][count][4]: two corners y, x, or by_centre x, y, width, height; scores [batches][classes][count]; "
    "limited: only those above least_score count. Output: `most` rows of batch, class and box for each class of a batch, the "
    "selected ones first, then -1.",
)


@dataclass(frozen=True)
class SelectionOptions:
    """Options of a NonMaxSuppression.

    Attributes:
        most: Largest number of boxes of a class.
        most_overlap: Largest share of two boxes in common.
        least_score: Score that a selected box exceeds, or None.
        by_centre: Whether a box is its centre and its size.
    """

    most: int
    most_overlap: float
    least_score: float | None
    by_centre: bool


def most_rows(scores: Sequence[int], most: int) -> int:
    """Return the largest number of selected boxes.

    Args:
        scores: Shape of the scores: batches, classes, boxes.
        most: Largest number of boxes of a class.
    """
    batches, classes, count = scores
    return batches * classes * min(most, count)


def _check(operands: Operands) -> Iterator[Problem]:
    rows = most_rows(operands.required(1).shape, operands.options(SelectionOptions).most)
    yield from check_elements(operands.output, rows * NUMBERS_EACH)


def _lower(operands: Operands) -> KernelCall:
    options, scores = operands.options(SelectionOptions), operands.required(1)
    batches, classes, count = scores.shape
    return KernelCall(
        _KERNEL,
        {
            "boxes": operand(operands.first),
            "scores": operand(scores),
            "output": operands.output,
            "batches": batches,
            "classes": classes,
            "count": count,
            "most": min(options.most, count),
            "least_score": options.least_score or 0.0,
            "most_overlap": options.most_overlap,
            "limited": int(options.least_score is not None),
            "by_centre": int(options.by_centre),
        },
    )


OPERATORS = (
    OperatorKind(
        name="FloatNonMaxSuppression",
        label="FloatNonMaxSuppression",
        rule=Rule((FLOAT32, FLOAT32), 2, (), INT64, _check, first_may_be_constant=True),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
