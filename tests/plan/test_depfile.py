"""Lists of headers, as a compiler writes them and as they are written again for who has thrown them away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from n6build.plan.depfile import first_rule, read_depfile, rules_of

from plan.plan_samples import compilation

NAMES = st.text(st.sampled_from("ab/ #$\\:é'\"("), min_size=1).map("a{}.h".format)


@given(st.lists(NAMES, max_size=4))
def test_what_is_written_is_read_again(headers: list[str]) -> None:
    """With a rule for each header, so that nobody looks for one that has disappeared."""
    step = compilation("build/fsbl", "firmware/fsbl/boot.c")
    written = rules_of(step, headers)
    assert read_depfile(written) == [*step.sources, *headers]
    assert first_rule(written).startswith(b"build/fsbl/boot.o: ")
    assert [read_depfile(b"x: " + line[:-1]) for line in written.splitlines()[1:] if line] == [
        [each] for each in headers
    ]
