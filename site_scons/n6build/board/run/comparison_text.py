"""Result of a comparison with the reference, in words.

Outputs of the NPU are expected to be within the known tolerance of the chip; only silicon can
confirm it.
"""

from __future__ import annotations

from collections.abc import Sequence

from n6build.board.run.compare import OF_FLOAT32, OF_NOISE, ComparedOutput, Verdict, cosine_text, of_noise
from n6build.board.run.session import NetworkOutcome
from n6build.place.memory_plan.vectors import SEEDED


def output_text(output: ComparedOutput) -> str:
    """Return the distance of one output from the reference, in words."""
    cosine = f"cosine {cosine_text(output.cosine)}"
    top1 = {None: "", True: "", False: ", another top-1"}[output.top1]
    if output.equal == output.elements:
        return "equal"
    if output.type == "float32":
        return f"max difference {output.max:.3g}, {cosine}{top1}"
    equal, near = (percent(count, output.elements) for count in (output.equal, output.within_1))
    return f"{equal} equal, {near} within 1, max {output.max:.0f}, {cosine}{top1}"


def percent(count: int, of: int) -> str:
    """Return a percentage, rounded down so that only a full share is 100 %.

    A share of zero elements is 100 %, too.
    """
    return f"{count * 10_000 // of / 100 if of else 100:.2f} %"


def verdict_text(verdict: Verdict, *, exact: bool) -> str:
    """Return the comparison of one inference in words, empty if not compared.

    Args:
        verdict: The compared inference.
        exact: True if the outputs had to be equal.
    """
    if verdict.equal is None:
        return ""
    if verdict.equal:
        return "equal"
    if verdict.passes and exact:
        return f"equal but for {_furthest([verdict]):.2g} ulp"
    if exact or not verdict.outputs:
        return f"{verdict.different_bytes} bytes differ"
    several = len(verdict.outputs) > 1
    return "; ".join(f"{each.name}: {output_text(each)}" if several else output_text(each) for each in verdict.outputs)


def result_lines(networks: Sequence[NetworkOutcome]) -> list[str]:
    """Return sentences about all inferences of these networks."""
    kinds = (_within_tolerance, _not_compared, _insensitive, _accuracy)
    lines = [*_bit_for_bit(networks), *(kind(network) for kind in kinds for network in networks)]
    return [line for line in (*lines, _on_seeded_inputs(networks)) if line]


def _bit_for_bit(networks: Sequence[NetworkOutcome]) -> list[str]:
    """Return sentences about the outputs of networks that have no tolerance."""
    exact = [verdict for network in networks if network.tolerance is None for verdict in network.verdicts]
    compared = [verdict for verdict in exact if verdict.equal is not None]
    equal = sum(verdict.equal is True for verdict in compared)
    near = [verdict for verdict in compared if verdict.passes and not verdict.equal]
    lines = []
    if equal or (compared and not near):
        lines.append(f"{equal} of {len(compared)} outputs equal the reference interpreter bit for bit")
    if near:
        lines.append(
            f"{len(near)} of {len(compared)} outputs equal the reference interpreter, but for float32 values at most "
            f"{_furthest(near):.2g} ulp of the largest off: it approximates such functions"
        )
    return lines


def _on_seeded_inputs(networks: Sequence[NetworkOutcome]) -> str:
    """Return a sentence that names the networks with random inputs, or an empty text."""
    seeded = " and ".join(network.model for network in networks if network.is_seeded)
    return f"{seeded} ran on {SEEDED}: set vectors.inputs in model.yaml for other inputs" if seeded else ""


def measured_shares(network: NetworkOutcome) -> dict[str, float]:
    """Return figures of a run on a dataset by name, in percent; none without labels."""
    ranks = [verdict.rank for verdict in network.verdicts]
    shares = {} if network.mean_iou is None else {"mean IoU": network.mean_iou}
    shares |= dict(zip(("mAP", "mAP at 0.5"), network.average_precision, strict=False))
    if network.is_measured and ranks:
        right = {"top-1": 1, "top-5": 5}
        shares |= {
            name: 100 * sum(each is not None and each < most for each in ranks) / len(ranks)
            for name, most in right.items()
        }
    return shares


def accuracy_text(network: NetworkOutcome) -> str:
    """Return the accuracy on a dataset, such as 'top-1 91.0 %, top-5 99.0 %'.

    The text is empty without labels.
    """
    return ", ".join(f"{name} {share:.1f} %" for name, share in measured_shares(network).items())


def _accuracy(network: NetworkOutcome) -> str:
    """Return a sentence about the accuracy on a dataset; empty without labels."""
    accuracy = accuracy_text(network)
    if not accuracy:
        return ""
    count = len(network.verdicts)
    right = sum(verdict.rank == 0 for verdict in network.verdicts)
    by_class = network.mean_iou is None and not network.average_precision
    of = f"{right} of {count} inputs with a label" if by_class else f"{count} inputs"
    return f"{network.model} has {accuracy} on the board: {of}"


def _furthest(verdicts: Sequence[Verdict]) -> float:
    """Return the largest distance of float32 values, in ulps of the largest value."""
    return max(output.ulps for verdict in verdicts for output in verdict.outputs)


def _insensitive(network: NetworkOutcome) -> str:
    """Return a sentence about outputs that hardly follow the inputs, or an empty text."""
    if network.nudged is None or of_noise(network.nudged) == OF_NOISE:
        return ""
    return (
        f"these inputs tell little of {network.model}: its outputs in the reference move to cosine "
        f"{cosine_text(network.nudged)} if each input value changes by one step; try a real input, or epochs=1"
    )


def _is_compared(network: NetworkOutcome) -> bool:
    return any(verdict.equal is not None for verdict in network.verdicts)


def _not_compared(network: NetworkOutcome) -> str:
    """Return a sentence about inferences without a comparison, or an empty text."""
    if _is_compared(network):
        return ""
    why = f": {network.not_compared}" if network.not_compared else ""
    return f"{len(network.verdicts)} inferences, but no expected outputs for a comparison{why}"


def _within_tolerance(network: NetworkOutcome) -> str:
    """Return a sentence about outputs with a tolerance, or an empty text."""
    if not network.tolerance or not _is_compared(network):
        return ""
    compared = [verdict for verdict in network.verdicts if verdict.passes is not None]
    passed = sum(verdict.passes is True for verdict in compared)
    outputs = [output for verdict in compared for output in verdict.outputs]
    far = f", cosine {cosine_text(min(output.cosine for output in outputs))} or more" if outputs else ""
    against = f" to {network.against}" if network.against and far else ""
    return f"{passed} of {len(compared)} outputs are as expected of the chip{far}{against}{_near(outputs)}"


def _near(outputs: Sequence[ComparedOutput]) -> str:
    """Return the distance of float32 values that rounding moves, or an empty text."""
    furthest = max((output.ulps for output in outputs), default=0.0)
    if not 0 < furthest <= OF_FLOAT32 or any(output.type != "float32" for output in outputs):
        return ""
    return f", float32 values at most {furthest:.2g} ulp of the largest off"


def worst_outputs(network: NetworkOutcome) -> list[str]:
    """Return the worst case of each output over all inferences, in words.

    The list is empty for a network without a tolerance.
    """
    if network.tolerance is None:
        return []
    worst: dict[str, ComparedOutput] = {}
    for verdict in network.verdicts:
        for output in verdict.outputs:
            if output.name not in worst or output.cosine < worst[output.name].cosine:
                worst[output.name] = output
    return [f"output {name}, at worst: {output_text(output)}" for name, output in worst.items()]
