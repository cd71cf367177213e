"""Target ladder on the virtual board: all rungs, one that differs, and an NPU that is another one."""

from __future__ import annotations

from n6build.run.ladder import read_ladder
from n6build.run.rungs import NETWORKS, VERSIONS

from end_to_end.conftest import Project

CALL = ("backend=neural_art", "probe=virtual", "ladder")


def result(project: Project) -> dict[str, str]:
    record = read_ladder(project.root / "build/field/nucleo-n657-ladder.json")
    assert record is not None
    assert record.virtual
    return {each.name: each.result for each in record.rungs}


def test_the_virtual_board_climbs_it_and_stops_where_something_differs(project: Project) -> None:
    climbed = project.scons(*CALL)
    assert climbed.status == 0, climbed.output
    assert set(result(project).values()) == {"equal", "near"}
    assert "it settles nothing about the chip" in climbed.output
    # Other bytes than expected: what comes after is not run, and what that tells is said.
    expected = project.root / "models/ladder/pool/expected.npy"
    changed = bytearray(expected.read_bytes())
    changed[-1] ^= 1
    expected.write_bytes(bytes(changed))
    differs = project.scons(*CALL)
    assert differs.status == 2, differs.output
    assert "N6-LADDER-001: rung pool fails: N6-RUN-005" in differs.output
    (pool,) = [rung for rung in NETWORKS if rung.name == "pool"]
    assert pool.tells in differs.output
    assert [name for name, each in result(project).items() if each == "differs"] == ["pool"]
    assert result(project)["dense"] == "not reached"
    assert "4 of 8, dense" not in differs.output
    # Versions of another NPU.
    project.replace("firmware/runtime/ll_aton_npu.c", "!= units[i].expected", "== units[i].expected")
    other = project.scons(*CALL)
    assert other.status == 2, other.output
    assert "N6-LADDER-001: rung versions fails: N6-FW-061" in other.output
    assert VERSIONS.tells in other.output
    assert result(project)["versions"] == "stopped"
