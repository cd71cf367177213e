"""What relocatable models consist of, in words: on the console, and in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import show
from n6build.base.files import write_atomically
from n6build.plan.step import Call, Step, to_parameters
from n6build.reloc.reader import read_reloc_file


@dataclass(frozen=True)
class Parameters:
    """shown: on the console, too."""

    shown: bool


def reloc_summary_step(outputs: Sequence[str], models: Sequence[str], *, shown: bool) -> Step:
    """models: network_rel.bin of each. Every output gets the same text."""
    return Step(
        verb="Summary",
        stage="reloc",
        outputs=tuple(outputs),
        sources=tuple(models),
        parameters=to_parameters(Parameters(shown)),
        function="n6build.steps.reloc_summary:make",
        always=True,
        quiet=True,
    )


def make(call: Call) -> None:
    """Writes the summary, and prints it if it is to be shown."""
    from n6build.reloc.show import summary  # noqa: PLC0415 - planning shows nothing.

    text = "\n".join(summary(read_reloc_file(model)) for model in call.sources)
    if call.parameters_as(Parameters).shown:
        show(text)
    for output in call.outputs:
        write_atomically(output, text)
