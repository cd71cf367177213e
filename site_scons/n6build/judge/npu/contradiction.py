"""A constant of a compiled network that does not follow from its model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contradiction:
    """A constant of an epoch that does not follow from the model.

    Attributes:
        epoch: ST's number of the epoch.
        what: The constant, its value and that of the model, in words.
    """

    epoch: int
    what: str
