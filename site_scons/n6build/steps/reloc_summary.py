"""Steps for tables about relocatable models: a summary, and their pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import show
from n6build.base.files import write_atomically
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.reloc.description import read_description
from n6build.place.reloc.reader import read_reloc_file


def reloc_pool_table_step(output: str, descriptions: Sequence[str]) -> Step:
    """Return the step that prints and writes the table of pools.

    Args:
        output: Path of the table.
        descriptions: Descriptions of the models in JSON.
    """
    return Step(
        verb="Pools",
        stage="reloc",
        outputs=(output,),
        sources=tuple(descriptions),
        function="n6build.steps.reloc_summary:make_reloc_pool_table",
        always=True,
        quiet=True,
    )


def make_reloc_pool_table(call: Call) -> None:
    """Print the table and write it."""
    from n6build.place.reloc.reloc_text import pool_table  # noqa: PLC0415 - planning shows nothing.

    pools_of_each = [read_description(path).pools for path in call.sources]
    text = "".join(pool_table(pools, 0, [0] * len(pools)) for pools in pools_of_each)
    show(text)
    write_atomically(call.outputs[0], text)


@dataclass(frozen=True)
class RelocSummaryParameters:
    """Parameters of the step.

    Attributes:
        shown: Also print the summary.
    """

    shown: bool


def reloc_summary_step(outputs: Sequence[str], models: Sequence[str], *, shown: bool) -> Step:
    """Return the step that writes the summary; each output gets the same text.

    Args:
        outputs: Paths of the summary.
        models: Files network_rel.bin of the models.
        shown: Also print the summary.
    """
    return Step(
        verb="Summary",
        stage="reloc",
        outputs=tuple(outputs),
        sources=tuple(models),
        parameters=to_parameters(RelocSummaryParameters(shown)),
        function="n6build.steps.reloc_summary:make_reloc_summary",
        always=True,
        quiet=True,
    )


def make_reloc_summary(call: Call) -> None:
    """Write the summary, and print it if requested."""
    from n6build.place.reloc.reloc_text import summary  # noqa: PLC0415 - planning shows nothing.

    text = "\n".join(summary(read_reloc_file(model)) for model in call.sources)
    if call.parameters_as(RelocSummaryParameters).shown:
        show(text)
    for output in call.outputs:
        write_atomically(output, text)
