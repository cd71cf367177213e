"""Fuzz targets for captures of any board: arrays, bytes, console logs with dumps."""

from __future__ import annotations

import contextlib
import io
import itertools
from pathlib import Path

import numpy as np
from n6build.base.errors import N6Error
from n6build.judge.compare.captures import read_capture
from n6build.judge.compare.readings import assignments, readings_of
from n6build.judge.compare.tensors import Port

from fuzz.target import Parse, Target

_PORTS = (Port("logits", "int8", (1, 4), 0.1, 3), Port("boxes", "float32", (1, 2, 3), 1.0, 0))
_DUMPS = (
    b"[00:00:00.131,136] <inf> net: output\n00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f |........ ........\n",
    b"D (137) app: 0x3f40b3cc   32 30 31 38 30 31 31 39  2d 31 31 31 33 32 32 00  |20180119-111322.|\n",
    b"0x34200000 <out>:\t0x03020100\t0x07060504\n0x34200008 <out+8>:\t0x0b0a0908\t0x0f0e0d0c\n",
    b"00000000: 5446 4c33 0000 ab63  TFL3...c\n00000008: 6162 2063 6420            ab cd \n",
    b"00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000040\n",
    b"0000000 0100 0302 0504 0706 0908 0b0a 0d0c 0f0e\n0000020 0201\n",
    b"const int8_t out[] = {\n  0x00, 0x01, 0x02, 0x03, /* first */\n  0x04, 0x05 };\n",
    b"Output tensor 3:\n  data[0] = -5\n  data[1] = 7\n  data[2] = 127\n  data[3] = 0\n",
    b"$1 = {-128, 5, 0 <repeats 3 times>, 3}\nout:0.549805,-1.241211,0.169922,1e-3\n",
    b":0400000001020304F2\n:00000001FF\n",
)


def _npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(4, dtype=np.int8), allow_pickle=False)
    return buffer.getvalue()


def _captured(name: str) -> Parse:
    def parse(data: bytes, folder: Path) -> None:
        path = folder / name
        path.write_bytes(data)
        pieces = read_capture(path)
        for ports in (_PORTS[:1], _PORTS):
            with contextlib.suppress(N6Error):
                for output in itertools.chain(*assignments(pieces, ports, 3)):
                    assert readings_of(output)

    return parse


CAPTURES = (
    Target(
        "captured dump",
        lambda: _DUMPS,
        _captured("console.log"),
        (b"0x", b"*\n", b" <repeats 9 times>", b"|", b"0000: ", b"\n", b"-1", b", ", b"nan", b"out[3] = "),
    ),
    Target("captured array", lambda: (_npy(),), _captured("out.npy")),
)
