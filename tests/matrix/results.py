"""Results of pairs, for the tests of a matrix."""

from __future__ import annotations

from hypothesis import strategies as st
from n6build.tell.matrix.result import PairResult

GOOD = PairResult("nucleo", "keyword", "", "built", 1.25, 20_000, 16_128, 1_469_573, 10, 10)

names = st.text("aZ09_.-", min_size=1, max_size=8)
counts = st.integers(0, 1 << 40)
commits = st.just("unknown") | st.builds("{:040x}{}".format, st.integers(0, 1 << 159), st.sampled_from(["", "-dirty"]))
options = st.lists(st.sampled_from(["profile=noextmem", "loader=reloc", "load=xip"]), unique=True, max_size=2).map(
    tuple
)


def results_of(board: str, model: str) -> st.SearchStrategy[PairResult]:
    return st.builds(
        PairResult,
        board=st.just(board),
        model=st.just(model),
        failure=st.just("") | st.text(min_size=1, max_size=20),
        built=st.sampled_from(["built", "cache", "up to date"]),
        seconds=st.floats(0, 1000),
        appli_bytes=counts,
        activation_bytes=counts,
        instructions=counts,
        equal=st.integers(0, 10),
        outputs=st.integers(0, 10),
        near=st.integers(0, 10),
    )
