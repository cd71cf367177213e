"""n6build survey: compiled networks in folders of any layout, one row each."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.adopt.networks import find_networks
from n6build.base.errors import N6Error
from n6build.base.walk import walk
from n6build.cli.survey import survey
from n6build.describe.formats.npu_blob import CONTAINERS
from n6build.survey import runs
from n6build.survey import survey as surveys
from n6build.survey.kinds import Row
from network.network_c_texts import CORES, Core, network_c
from npu.test_blobs import header
from npu.test_containers import example
from samples import sample, samples_folder
from virtual_board.npu.model import END, assembled, label, poll, unit, write_bits

RELEASE_3, RELEASE_2 = CORES[3], CORES[0]
WEIGHTS = bytes(4704)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4704\n"


def engine(kind: str, index: int = 0) -> list[int]:
    return write_bits(unit(kind, index), 0, 0, 1, 1)


def blob(*parts: list[int]) -> list[int]:
    wait = poll(unit("STRENG"), 0, 31, 31, 0)
    return assembled(label(1), *parts, engine("STRENG"), wait, END)


def put(folder: Path, core: Core = RELEASE_3, words: list[int] | None = None, weights: bytes | None = WEIGHTS) -> Path:
    """Write a network with one blob into a folder."""
    folder.mkdir(parents=True)
    (folder / "od.c").write_text(network_c(core).replace('"Default_ecblobs.h"', '"od_ecblobs.h"'))
    (folder / "od_ecblobs.h").write_text(header(words or example(CONTAINERS[-1])))
    if weights is not None:
        (folder / "od_atonbuf.xSPI2.raw").write_bytes(weights)
    return folder


def rows(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, object]]:
    """Return the facts about networks by their places."""
    survey([str(folder), "--json", *words])
    return {row["place"]: row for row in json.loads(capsys.readouterr().out)["networks"]}


def test_networks_are_found_by_their_content_in_any_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "a/b/c/deep")
    put(tmp_path / "Model", RELEASE_2)
    (tmp_path / "Model/main.c").write_text('#include "ll_aton_NN_interface.h"\nint main(void) { return 0; }\n')
    (tmp_path / "Model/od_ecblobs.txt").write_text(header(example(CONTAINERS[0])))
    found = rows(tmp_path, capsys)
    assert found.keys() == {"Model/od.c", "a/b/c/deep/od.c"}
    one = found["a/b/c/deep/od.c"]
    assert one["release"] == "ST Edge AI Core 3.0"
    assert one["weights"] == ["a/b/c/deep/od_atonbuf.xSPI2.raw"]
    assert one["gate"]["state"] == "passes"  # type: ignore[index]
    assert one["gate"]["containers"] == ["0xECBF0050 of Core 3.0 and later"]  # type: ignore[index]
    assert one["run"]["state"] == "not run"  # type: ignore[index]


def test_a_network_with_copies_is_one_row_and_the_one_with_weights_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "a", weights=None)
    put(tmp_path / "b")
    put(tmp_path / "c", weights=POINTER)
    found = rows(tmp_path, capsys)
    assert found.keys() == {"b/od.c"}
    assert found["b/od.c"]["copies"] == ["a/od.c", "c/od.c"]
    survey([str(tmp_path)])
    assert "also in 2 other folders" in capsys.readouterr().out


def test_what_is_not_modelled_is_named_and_after_three_reasons_the_rest_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "a", words=blob(engine("DECUN"), engine("DECUN", 1), engine("RECBUF"), engine("CONVACC")))
    gate = rows(tmp_path, capsys)["a/od.c"]["gate"]
    assert gate["state"] == "refused"  # type: ignore[index]
    reasons = gate["reasons"]  # type: ignore[index]
    assert {"epoch 1: DECUN0 is not modelled", "epoch 1: RECBUF is not modelled"} <= set(reasons)
    survey([str(tmp_path)])
    told = capsys.readouterr().out
    assert "  refused  " in told
    assert f"and {len(reasons) - 3} more; --json has all" in told
    assert "Surveyed 1 network, 1 refused" in told


def _cut_off(folder: Path) -> None:
    (folder / "od.c").write_bytes((folder / "od.c").read_bytes()[:2000])


def _blobs_cut_off(folder: Path) -> None:
    (folder / "od_ecblobs.h").write_text(header(example(CONTAINERS[0])[:9]))


def _no_blobs(folder: Path) -> None:
    (folder / "od_ecblobs.h").unlink()


def _an_unknown_container(folder: Path) -> None:
    (folder / "od_ecblobs.h").write_text(header([0xECBF_0099, 0, 0, 0]))


def _blobs_not_downloaded(folder: Path) -> None:
    (folder / "od_ecblobs.h").write_bytes(POINTER)


def _a_loop_of_links(folder: Path) -> None:
    (folder / "od_ecblobs.h").unlink()
    (folder / "od_ecblobs.h").symlink_to("od_ecblobs.h")


def _a_deep_c_info(folder: Path) -> None:
    (folder / "od_c_info.json").write_text("[" * 10_000)


DAMAGE = (_cut_off, _blobs_cut_off, _no_blobs, _an_unknown_container, _blobs_not_downloaded, _a_loop_of_links)


@pytest.mark.parametrize("damage", [*DAMAGE, _a_deep_c_info])
def test_a_damaged_network_is_a_row_and_the_others_are_surveyed(
    damage: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "b")
    damage(put(tmp_path / "a", RELEASE_2))
    begin = time.process_time()
    found = rows(tmp_path, capsys)
    assert time.process_time() - begin < 1.0
    assert found["b/od.c"]["gate"]["state"] == "passes"  # type: ignore[index]
    if damage is _cut_off:
        # Without the table of epochs it is not known from an application.
        assert found.keys() <= {"a/od.c", "b/od.c"}
        return
    text = json.dumps(found["a/od.c"])
    assert "unreadable" in text or "N6-NET-020" in text
    survey([str(tmp_path)])
    assert "Surveyed 2 networks" in capsys.readouterr().out


def test_a_fault_of_n6build_is_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "a")

    def faulty(thing: object, tree: object, wishes: object) -> Row:
        raise ValueError("a fault")

    kind = next(each for each in surveys.KINDS if each.name == "networks")
    monkeypatch.setattr(surveys, "KINDS", (replace(kind, look_at=faulty),))
    found = rows(tmp_path, capsys)
    assert "fault of n6build, please report it: ValueError('a fault') in test_survey.py" in str(
        found["a/od.c"]["error"]
    )
    survey([str(tmp_path)])
    assert "1 cannot be read" in capsys.readouterr().out


def test_weights_nearer_to_another_network_are_not_taken(tmp_path: Path) -> None:
    one, other = put(tmp_path / "one/Model", weights=None), put(tmp_path / "other/Model", weights=None)
    (tmp_path / "other/od_atonbuf.xSPI2.raw").write_bytes(WEIGHTS)
    found = {network.source.parent: network for network in find_networks(walk(tmp_path))}
    assert found[one].missing == ("xSPI2",)
    assert [each.file for each in found[other].elsewhere] == [tmp_path / "other/od_atonbuf.xSPI2.raw"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_an_unreadable_folder_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "a")
    put(tmp_path / "b").chmod(0)
    survey([str(tmp_path)])
    told = capsys.readouterr().out
    assert "Surveyed 1 network" in told
    assert "Left out" in told


def test_a_folder_without_networks_has_no_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(tmp_path, capsys) == {}
    survey([str(tmp_path), "--quiet"])
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "id"),
    [
        (["probe=virtual"], "N6-OPTION-001"),
        (["board=none"], "N6-BOARD-001"),
        (["--seconds", "0"], "N6-OPTION-019"),
        (["core=/nowhere/at/all"], "N6-FILE-002"),
    ],
)
def test_invalid_words_are_named(words: list[str], id: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error) as error:
        survey([str(tmp_path), *words])
    assert error.value.id == id


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(N6Error, match="N6-FILE-002"):
        survey([str(tmp_path / "a")])


# Runs


def test_a_network_that_lacks_something_does_not_run_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STEDGEAI_CORE_DIR", raising=False)
    monkeypatch.setattr(runs, "find_emulator", lambda soc: Path("qemu"))
    put(tmp_path / "whole")
    put(tmp_path / "without weights", RELEASE_2, weights=None)
    put(tmp_path / "refused", words=blob(engine("DECUN")))
    why = {place: row["run"]["why"] for place, row in rows(tmp_path, capsys, "--run").items()}  # type: ignore[index]
    assert why == {
        "whole/od.c": "no runtime of ST Edge AI Core 3.0 in the folder",
        "without weights/od.c": "it lacks weights of pool xSPI2",
        "refused/od.c": "the gate: refused",
    }


def called_with(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: int = 60) -> str:
    """Call n6build, which is a shell script for this test."""
    script = folder / "python"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    return runs._called(folder, ["run"], seconds)


def test_a_run_that_does_not_end_is_ended_with_its_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = f"sleep 600 & echo $! > {tmp_path}/emulator; wait"
    assert called_with(program, tmp_path, monkeypatch, 2) == "it did not end within 2 s"
    emulator = int((tmp_path / "emulator").read_text())
    for _ in range(100):
        state = Path(f"/proc/{emulator}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    os.kill(emulator, signal.SIGKILL)
    pytest.fail("the emulator still runs")


def test_why_a_run_failed_is_in_its_last_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = json.dumps({"id": "N6-NET-021", "what": "has 3 bytes", "where": "a", "hint": None})
    program = f"mkdir -p build; echo '{error}' > build/last_error.json; exit 2"
    assert called_with(program, tmp_path, monkeypatch) == "N6-NET-021: has 3 bytes"
    assert called_with("exit 0", tmp_path, monkeypatch) == ""


def test_a_crash_is_told_by_its_last_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert called_with("echo one; echo Killed >&2; exit 137", tmp_path, monkeypatch) == "Killed"
    assert called_with("exit 3", tmp_path, monkeypatch) == "n6build ended with status 3"


# Real networks


def test_all_networks_of_the_samples_pass_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    folder = samples_folder()
    if folder is None:
        pytest.skip("no samples")
    found = rows(folder, capsys)
    refused = {place: row["gate"] for place, row in found.items() if row["gate"]["state"] != "passes"}  # type: ignore[index]
    assert refused == {}
    assert len(found) >= 9
    containers = {each.split()[0] for row in found.values() for each in row["gate"]["containers"]}  # type: ignore[index]
    assert containers == {"0xECBF0020", "0xECBF0030", "0xECBF0050"}


# In every run: the tests above; test_samples.py runs the networks of the samples by themselves.
@pytest.mark.slow
def test_a_real_network_runs_and_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"core={sample('core/3.0')}", f"cmsis={sample('apps/audio')}", "board=nucleo-n657", "--epochs"]
    (row,) = rows(sample("npu/reid-mobilenetv2-core-3.0"), capsys, *words).values()
    run, joined = row["run"], row["joined"]
    assert run["state"] == "runs", run  # type: ignore[index]
    assert run["cosine"] > 0.99  # type: ignore[index]
    assert joined["compared"] >= 52, joined  # type: ignore[index]
    assert joined["within_1"] / joined["elements"] > 0.999  # type: ignore[index]
