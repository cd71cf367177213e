"""checks.txt: the results of the checks in words. A failed check of severity error ends the build here, before anything is
flashed."""

from __future__ import annotations

from n6build.base.console import say
from n6build.base.files import write_atomically
from n6build.checks.run import described, raise_if_failed, read_results
from n6build.plan.step import Call, Step


def verdict_step(output: str, checks: str) -> Step:
    """output: checks.txt. checks: checks.json."""
    return Step(
        verb="Verdict",
        stage="checks",
        outputs=(output,),
        sources=(checks,),
        function="n6build.steps.verdict:make",
        # The checks print their own lines.
        quiet=True,
    )


def make(call: Call) -> None:
    """Prints the results, and writes checks.txt unless a check has failed. Raises the error of a failed check."""
    results = read_results(call.sources[0])
    lines = list(described(results))
    for verb, text in lines:
        say(verb, text)
    raise_if_failed(results)
    write_atomically(call.outputs[0], "".join(f"{verb:<9}{text}\n" for verb, text in lines))
