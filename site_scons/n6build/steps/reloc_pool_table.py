"""The memory pools of relocatable models as a table: what npu_driver.py shows with --parse-only."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.console import show
from n6build.base.files import write_atomically
from n6build.plan.step import Call, Step
from n6build.reloc.description import read_description


def reloc_pool_table_step(output: str, descriptions: Sequence[str]) -> Step:
    """descriptions: of the models, in JSON. The table goes to the console, too."""
    return Step(
        verb="Pools",
        stage="reloc",
        outputs=(output,),
        sources=tuple(descriptions),
        function="n6build.steps.reloc_pool_table:make",
        always=True,
        quiet=True,
    )


def make(call: Call) -> None:
    """Prints the table and writes it."""
    from n6build.reloc.show import pool_table  # noqa: PLC0415 - planning shows nothing.

    pools_of_each = [read_description(path).pools for path in call.sources]
    text = "".join(pool_table(pools, 0, [0] * len(pools)) for pools in pools_of_each)
    show(text)
    write_atomically(call.outputs[0], text)
