"""Step for checks.txt, the results of the checks in words.

A failed check of severity error ends the build here, before the board is programmed.
"""

from __future__ import annotations

from n6build.base.console import say
from n6build.base.files import write_atomically
from n6build.check.run import described, raise_if_failed, read_results
from n6build.engine.step import Call, Step


def verdict_step(output: str, checks: str) -> Step:
    """Return the step that prints the results of the checks.

    Args:
        output: Path of checks.txt.
        checks: Path of checks.json.
    """
    return Step(
        verb="Verdict",
        stage="checks",
        outputs=(output,),
        sources=(checks,),
        function="n6build.steps.verdict:make_verdict",
        # The checks print their own lines.
        quiet=True,
    )


def make_verdict(call: Call) -> None:
    """Print the results, and write checks.txt unless a check has failed.

    Raises:
        N6Error: The error of the failed check.
    """
    results = read_results(call.sources[0])
    lines = list(described(results))
    for verb, text in lines:
        say(verb, text)
    raise_if_failed(results)
    write_atomically(call.outputs[0], "".join(f"{verb:<9}{text}\n" for verb, text in lines))
