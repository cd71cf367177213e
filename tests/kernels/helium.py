"""Comparisons of the Helium paths with the plain twins."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernels import cortex_m55
from kernels.cortex_m55 import Call, Result
from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import Case

Budgets = Sequence[tuple[float, Case]]  # Each has the highest number of instructions per unit of work.
REPEATS = 4


@dataclass(frozen=True)
class Helium:
    """The Helium paths on the machine, with the plain twins on this host.

    Attributes:
        runners: Programs by their optimisation.
        folder: Receives the files exchanged with the machine.
    """

    twins: HostKernels
    machine: cortex_m55.Machine
    runners: dict[str, Path]
    folder: Path

    def run(self, cases: Sequence[Case | Call], level: str = "-O2", repeats: int = 1) -> list[Result]:
        calls = [Call(case) if isinstance(case, Case) else case for case in cases]
        return cortex_m55.run(self.machine, self.runners[level], calls, self.folder, repeats)

    def assert_equals_twins(self, cases: Sequence[Case | Call], level: str = "-O2") -> None:
        for case, result in zip(cases, self.run(cases, level), strict=True):
            output, state = self.twins.run_with_state(case if isinstance(case, Case) else case.case)
            assert (result.output, result.state) == (output.tobytes(), state), str(case)

    def assert_within(self, budgets: Budgets, level: str = "-O2") -> None:
        """Check results and instruction budgets, and print the measurements."""
        exceeded = []
        results = self.run([case for _, case in budgets], level, REPEATS)
        for (budget, case), result in zip(budgets, results, strict=True):
            # A state changes with every repeat, so the output is not compared.
            assert case.state or result.output == self.twins.run(case).tobytes(), str(case)
            each = result.instructions / case.work
            print(f"{level} {result.instructions:9d} {each:8.3f} {case}")
            if each > budget:
                exceeded.append(f"{level} {case}: {each:.3f}, budget {budget}")
        assert exceeded == []
