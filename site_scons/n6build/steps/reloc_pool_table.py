"""Step for the table of memory pools that npu_driver.py shows with --parse-only."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.console import show
from n6build.base.files import write_atomically
from n6build.engine.step import Call, Step
from n6build.place.reloc.description import read_description


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
        function="n6build.steps.reloc_pool_table:make_reloc_pool_table",
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
