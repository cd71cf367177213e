"""Inputs that once caused a traceback or an endless run."""

from __future__ import annotations

import struct

from n6build.board.run.session import Outcome

from fuzz.plans import STEP
from fuzz.records import MANIFEST
from fuzz.target import json_of

_DIGITS = b"9" * 4400
_NAMES = b"x" * 300
_MADE = b'"inputs": {}, "outputs": {}, "reason": "", "origin": "", "seconds": 0'
_LEDGER = b'{"format": 1, "name": "%b", "parts": {"sources": [["a", "b"]]}, %b}\n' % (STEP.name.encode(), _MADE)
_PROP = b'{"rights": "ACC_WRITE", "byteWidth": 1e999}'
_ZERO = b'{"value": "0", "magnitude": "BYTES"}'
_POOL = b'{"fname": "a", "name": "a", "prop": %b, "offset": %b, "size": %b}' % (_PROP, _ZERO, _ZERO)


_RUN = json_of(Outcome, watched=None, findings=[], clock_hz=1)


def _npy(header: bytes) -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(12)


FOUND: list[tuple[str, bytes]] = [
    ("any YAML", b"[" * 40_000),
    ("any YAML", b"- " * 40_000),
    ("any YAML", b"a: [!!bool x, !!timestamp x, !!float '']\n"),
    ("any YAML", b"a: [1" + _DIGITS + b"]\n"),
    ("any YAML", b"a: &x [1]\n" + b"".join(b"b%d: [*x, *x]\n" % number for number in range(100))),
    ("board.yaml", b"name: nucleo-n657\ntitle: !!bool x\n"),
    ("model.yaml", b"name: any\nfile: " + _NAMES + b".tflite\n"),
    ("mpool", b'{"memory": {"mempools": [' + _POOL + b"]}}"),
    ("compiler's profiles", b'{"Profiles": "' + b"a \\\n" * 60),
    ("ll_aton_version.h", b"\n" * 400_000),
    ("ELF", b"\x7fELF\1\1\1".ljust(52, b"\0")),
    ("ELF", b"\x7fELF\1\1\1".ljust(16, b"\0") + b"\xff" * 36),
    ("console", b"n6 run 0 cycles=" + _DIGITS),
    ("console", b"n6 appli start clock=" + _DIGITS),
    ("emulator's findings", b'{"kind": "summ'),
    ("emulator's findings", b'{"kind": "summary", "unmodelled": [[1]]}\n\xff\n'),
    ("emulator's findings", b'{"kind": "cache"}\n' + b"[" * 4000 + b"\n"),
    (".npy", _npy(b"{'descr': '|i1', 'fortran_order': False, 'shape': (" + b"9" * 20 + b", 4), }\n")),
    (".npy", _npy(b"{'descr': '|i1', ''\n")),
    (".npy", _npy(b"{'descr': '|i1', 'fortran_order': False, 'shape': (-1, 4), }\n")),
    ("answer of an interpreter (.npz)", b"PK\5\6" + bytes(18)),
    ("ledger", b'{"format": 1, "parts": {"tools": ["gcc"]}}\n'),
    ("ledger", _LEDGER),
    ("ledger", b"[" * 100_000 + b"\n"),
    ("placed images", b"[]"),
    ("flash record", b'{"board": "nucleo-n657", "sectors": ' + b"[" * 5000),
    ("flash record", b'{"board": "nucleo-n657", "sectors": {}, "witnesses": [{"address": "0x0", "size": 1e999}]}'),
    ("flash receipt", b"[" * 5000),
    ("running models", b'{"a": {"slot": Infinity, "revision": 1}}'),
    ("flash manifest", MANIFEST.replace(b'"sector":4096', b'"sector":0')),
    ("flash manifest", MANIFEST.replace(b'"length":9', b'"length":-9')),
    ("runs=", _DIGITS),
    ("run.json", b'{"a": ' + b"[" * 5000),
    ("run.json", _RUN.replace(b'"clock_hz":1', b'"clock_hz":0')),
    ("run.json", _RUN.replace(b'"passes":true', b'"passes":false')),
    ("matrix.json", b"[1]"),
    ("checks.json", b"{}"),
]
