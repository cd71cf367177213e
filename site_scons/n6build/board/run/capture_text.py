"""Result of a comparison of captured outputs, in words."""

from __future__ import annotations

from n6build.board.run.board_capture import Compared
from n6build.board.run.compare import cosine_text
from n6build.judge.compare.diagnosis import Diagnosis, Fit

# Remedies by the first words of a cause.
_REMEDIES = {
    "uint8/int8 mix of the input": "add or subtract 128 where you write the input, or compile with --input-data-type",
    "uint8/int8 mix": "read the output in the network's type, which --output-data-type of ST's compiler sets",
    "channel order": "transpose, or compile with --inputs-ch-position and --outputs-ch-position",
    "RGB/BGR": "swap the channels where you write the picture, for example in the camera's pixel packer",
    "normalisation": "scale the input as in the training",
    "quantisation of the input": "write round(real / scale) + zero point",
    "quantisation of the output": "compute real = scale * (value - zero point)",
    "stale": "invalidate the CPU's data cache before you read the output, and wait for the end of the inference",
    "input never written": "clean the CPU's data cache after you write the input, and check the address of the "
    "input buffer",
    "softmax": "apply softmax once: in the model or after it",
    "byte order": "read words with the least significant byte first",
    "float16": "read the output in its own type",
    "integers of": "read the output in its own type",
    "rows of": "look up the order in which the network lists its rows",
    "outputs in": "look up the order of the network's outputs by name",
    "vectors in": "pass inputs= in the order of the captured outputs",
}


def output_lines(output: Diagnosis, compared: Compared) -> list[tuple[str, str, str]]:
    """Return verb, subject and detail of each console line about one output.

    Args:
        output: Diagnosis of an output of the model.
        compared: The comparison that it belongs to.
    """
    lines = [("Output", output.name, f"{_far(output)}{_verdict(output, compared.tolerance)}")]
    lines += [
        ("Read", f"as {output.how}", f"from {', '.join(output.where[:4])}{', ...' if len(output.where) > 4 else ''}")
    ]
    if output.written:
        lines.append(
            (
                "Cause",
                "never written",
                f"every byte is {output.written}: check that the RAM is on, and the address of the output",
            )
        )
    for fit in output.fits:
        near = "equal to the reference" if fit.near.max == 0 else f"{_near(fit)} of the reference"
        lines.append(("Cause", " and ".join(fit.causes), f"{'; '.join(fit.what)}; without this cause, it is {near}"))
        lines += [("Remedy", remedy, "") for remedy in dict.fromkeys(map(remedy_of, fit.causes)) if remedy]
    if len(output.fits) > 1:
        lines.append(("Note", "these causes have the same effect here", "capture vectors in which they differ"))
    if not output.within and not output.fits and not output.written:
        lines += _not_named(output, compared)
    return lines


def _not_named(output: Diagnosis, compared: Compared) -> list[tuple[str, str, str]]:
    if not output.unproved:
        what = f"no known cause fits; n6build tried {compared.tried} changes of the input"
        return [("Cause", "unknown", f"{what}; also capture the input buffer, and pass it with inputs=")]
    causes = " or ".join(dict.fromkeys(" and ".join(fit.causes) for fit in output.unproved))
    what = f"{causes} would fit, but {output.rows} vectors of this output do not prove it"
    return [("Cause", "not sure", f"{what}; capture more vectors")]


def _far(output: Diagnosis) -> str:
    if output.near.max == 0:
        return "equal to the reference"
    steps = f"max {output.near.max:.4g} steps" if output.type != "float32" else f"max {output.near.max:.3g}"
    top = f", a different largest element in {output.other_top} of {output.rows}" if output.other_top else ""
    return f"{_share(output.near.equal)} equal, {steps}, cosine {cosine_text(output.cosine)}{top}"


def _verdict(output: Diagnosis, tolerance: float) -> str:
    if output.near.max == 0 and output.within:
        return f", {output.rows} vectors"
    return f": {'within' if output.within else 'outside'} the tolerance, cosine {tolerance}"


def _near(fit: Fit) -> str:
    if fit.near.error < 1e-6:
        return "within rounding of a float"
    return f"within {fit.near.max:.3g} steps" if fit.near.max >= 1 else f"within {fit.near.max:.3g}"


def _share(value: float) -> str:
    """Return a percentage, rounded down so that only a full share is 100 %."""
    return f"{int(value * 10_000) / 100:.2f} %"


def remedy_of(cause: str) -> str:
    """Return the remedy for a cause, or an empty string.

    Args:
        cause: Name of the cause.
    """
    return next((remedy for start, remedy in _REMEDIES.items() if cause.startswith(start)), "")
