"""No debugger ends the emulator, whatever it reads, writes and runs."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from firmware_build import BOARD
from n6build.board.probe.debug_port import Refused, VirtualDebugPort
from n6build.describe.hardware.blocks import blocks_of

from probe.boards import switched_on
from probe.debugger import MASKINTS, Debugger

_BLOCKS = blocks_of(BOARD.soc)
_MEMORIES = [
    0x0,
    0x1000_0000,
    0x1800_0000,
    0x2400_0000,
    0x3400_0000,
    0x3410_0000,
    0x3420_0000,
    0x7000_0000,
    0x9000_0000,
]
_OWN, _SECURE = 0xE000_E000, 1 << 28
_ACTIONS = 3000


def value(random: Random) -> int:
    return random.choice([0, 1, 0xFFFF_FFFF, random.getrandbits(32), 1 << random.randrange(32)])


def act(debugger: Debugger, random: Random) -> None:
    """Do something that a debugger may do; raise Refused."""
    block = random.choice(_BLOCKS)
    register = (block.base + 4 * random.randrange(block.size // 4)) & ~random.choice([0, 0, _SECURE])
    place = random.choice([*_MEMORIES, random.getrandbits(32) & ~3]) + 4 * random.randrange(1 << 16) & 0xFFFF_FFFC
    match random.randrange(12):
        case 0 | 1 | 2:
            debugger.write(register, value(random))
        case 3 | 4:
            debugger.read(register, random.choice([1, 1, 4]))
        case 5:
            debugger.read(place, random.choice([1, 50, 256]))
        case 6:
            debugger.write(place, *[random.getrandbits(32) for _ in range(random.choice([1, 30]))])
        case 7:
            debugger.write(_OWN + 4 * random.randrange(1 << 10), value(random))
        case 8:
            debugger.halt()
        case 9:
            debugger.run()
        case 10:
            debugger.step(random.choice([0, MASKINTS]))
        case 11:
            debugger.set_register(random.randrange(128), random.choice([value(random), 0x3400_0001, 0x3410_0000]))


def attach(port: VirtualDebugPort, random: Random) -> Debugger:
    if random.random() < 0.2:
        port.reset_by_pin()
    return Debugger(port, random.choice([0, 1, 1]), secure=random.random() < 0.8)


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))])
def test_a_random_debugger_leaves_an_emulator_that_answers(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    with switched_on(tmp_path) as on:
        debugger = Debugger(on.port)
        for _ in range(_ACTIONS):
            try:
                if random.random() < 0.07:
                    debugger = attach(on.port, random)
                act(debugger, random)
            except Refused:
                debugger.clear()
        on.port.reset_by_pin()
        assert Debugger(on.port, ap=0).word(0x8000_1000) & 0xFFF == BOARD.soc.device_id
        assert on.process.poll() is None
