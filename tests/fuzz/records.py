"""Fuzz targets for files that n6build wrote: board records and step results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

from n6build.base.span import Span
from n6build.board.flash.model_update import read_running, remember_running
from n6build.board.flash.receipt import Receipt, read_receipt, still_holds, write_receipt
from n6build.board.flash.record import other_format, read_record, without, write_record
from n6build.board.run.ladder import ladder_lines
from n6build.board.run.session import Outcome, read_outcome
from n6build.board.run.table import run_junit
from n6build.check.run import Result
from n6build.check.run import read_results as read_checks
from n6build.engine.known_files import remember_known_files
from n6build.judge.own_blobs.board_record import Ladder, read_ladder
from n6build.judge.own_blobs.confirmed import confirmed_by
from n6build.place.image.manifest import FlashManifest, check_overlap, manifest_json, read_manifest
from n6build.place.memory_plan.plan import MemoryPlan, plan_json, read_plan
from n6build.place.reloc.description import RelocDescription, description_json, read_description
from n6build.steps.foreign_image import Placed, placed_files
from n6build.tell.figures import SizesFile, read_sizes, sizes_json
from n6build.tell.matrix.history import Entry, Figures, read_history, write_history
from n6build.tell.matrix.matrix_settings import Limits, read_limits
from n6build.tell.matrix.result import PairResult
from n6build.tell.matrix.result import read_results as read_matrix
from n6build.tell.matrix.shard_results import ShardResults, read_shard
from n6build.tell.matrix.trends import trends_of
from n6build.tell.merge import merge_report
from n6build.tell.provenance import BUILD_TYPE, PREDICATE, STATEMENT, Kind, read_provenance

from fuzz.target import Target, json_of, of_file, sample_of

BOARD = "nucleo-n657"
ADDRESS = 0x70000000
_RECEIPT = Receipt(BOARD, "virtual", (ADDRESS,), {ADDRESS: "0" * 64})


_HISTORY = b"".join(
    json_of(Entry, format=1, commit=commit * 40, options=[], figures={"a/b": sample_of(Figures)}) + b"\n"
    for commit in "01"
)


def _history(path: Path) -> None:
    entries = read_history(path)
    write_history(path, entries)
    for entry in entries:
        trends_of(entries, entry.options, Limits(None, {"instructions": 1.0}, {}, ()))


def _known_files(data: bytes, folder: Path) -> None:
    (folder / ".n6build").mkdir(exist_ok=True)
    (folder / ".n6build/files.json").write_bytes(data)
    remember_known_files(folder)


def _record(path: Path) -> None:
    other_format(path)
    write_record(path, without(read_record(path, BOARD), [Span(ADDRESS, 4096)]))


def _receipt(path: Path) -> None:
    read_receipt(path)
    receipt = path.with_name("sound_receipt")
    write_receipt(receipt, _RECEIPT)
    # The receipt is used as the virtual board's record, and as the receipt that is compared with one.
    still_holds(receipt, path, receipt)
    still_holds(path, path, receipt)


def _running(path: Path) -> None:
    read_running(path)
    remember_running(path, {"other": (1, 2)})


# Two images, which are compared with each other.
MANIFEST = json_of(
    FlashManifest,
    base=0,
    size=1 << 20,
    sector=4096,
    segments=[{"name": "data", "file": "a", "address": at, "length": 9, "sha256": "0"} for at in (0, 8192)],
)


def _manifest(path: Path) -> None:
    manifest = read_manifest(path)
    manifest_json(manifest)
    check_overlap(manifest)


def _outcome(path: Path) -> None:
    outcome = read_outcome(path)
    run_junit(outcome)
    outcome.raise_if_wrong()


def _ladder(path: Path) -> list[str]:
    ladder = read_ladder(path)
    if not ladder:
        return []
    confirmed_by([ladder])
    return ladder_lines(ladder)


def _sizes(path: Path) -> None:
    sizes = read_sizes(path)
    sizes_json(sizes)
    merge_report(sizes, sizes)


_SHA256 = {"sha256": "0" * 64}
_MATERIAL = {"name": "gcc", "digest": _SHA256, "annotations": {"kind": get_args(Kind)[0]}}
_DEFINITION = {
    "buildType": BUILD_TYPE,
    "externalParameters": {"model": "any"},
    "internalParameters": {},
    "resolvedDependencies": [_MATERIAL],
}
_PROVENANCE = {
    "_type": STATEMENT,
    "predicateType": PREDICATE,
    "subject": [{"name": "appli_image.bin", "digest": _SHA256}],
    "predicate": {"buildDefinition": _DEFINITION, "runDetails": {"builder": {"version": {"n6build": "0.5.0"}}}},
}

RECORDS = (
    Target("provenance", lambda: [json.dumps(_PROVENANCE).encode()], of_file("provenance.json", read_provenance)),
    Target(
        "flash record",
        lambda: [
            json.dumps(
                {
                    "format": 1,
                    "board": BOARD,
                    "identity": {"board": "NUCLEO-N657", "device_id": "0x486"},
                    "sectors": {"0x70000000": "0" * 64},
                    "witnesses": [{"address": "0x70000000", "size": 4096, "sha256": "1" * 64}],
                }
            ).encode()
        ],
        of_file("record.json", _record),
    ),
    Target(
        "flash receipt",
        lambda: [
            json.dumps(
                {
                    "format": 1,
                    "board": BOARD,
                    "probe": "virtual",
                    "programmed": ["0x70000000"],
                    "sectors": {"0x70000000": "0" * 64},
                }
            ).encode()
        ],
        of_file("receipt.json", _receipt),
    ),
    Target("running models", lambda: [b'{"model": {"slot": 0, "revision": 7}}'], of_file("board.models", _running)),
    Target("flash manifest", lambda: [json_of(FlashManifest), MANIFEST], of_file("flash_manifest.json", _manifest)),
    Target("run.json", lambda: [json_of(Outcome, watched=None, findings=[])], of_file("run.json", _outcome)),
    Target("matrix.json", lambda: [json.dumps([sample_of(PairResult)]).encode()], of_file("matrix.json", read_matrix)),
    Target(
        "part of a matrix",
        lambda: [
            json_of(ShardResults, commit="0" * 40, options=["load=xip"], number=1, count=1, pairs=[["name", "name"]])
        ],
        of_file("shard.json", read_shard),
    ),
    Target("history of figures", lambda: [_HISTORY], of_file("history.jsonl", _history)),
    Target(
        "n6build.yaml",
        lambda: [b"matrix:\n  history: a.jsonl\n  most_growth: {instructions: 0.5}\n  accepted: {'0123abc': exact}\n"],
        of_file("n6build.yaml", lambda path: read_limits(path.parent)),
    ),
    Target("known files", lambda: [b'{"/a/weights.bin": [1048576, 1, 2, 3, "%s"]}' % (b"0" * 64)], _known_files),
    Target("checks.json", lambda: [json.dumps([sample_of(Result)]).encode()], of_file("checks.json", read_checks)),
    Target(
        "memory_plan.json", lambda: [json_of(MemoryPlan)], of_file("p.json", lambda path: plan_json(read_plan(path)))
    ),
    Target(
        "reloc description",
        lambda: [json_of(RelocDescription)],
        of_file("network_reloc.json", lambda path: description_json(read_description(path))),
    ),
    Target(
        "sizes.json", lambda: [json_of(SizesFile, format="n6build sizes", version=1)], of_file("sizes.json", _sizes)
    ),
    Target("ladder", lambda: [json_of(Ladder)], of_file("ladder.json", _ladder)),
    Target("placed images", lambda: [json_of(Placed)], of_file("placed.json", lambda path: placed_files(path, path))),
)
