"""ST's Audio application as published: own Makefile, HAL, runtime and network.

n6build makes its weights, checks it and puts it into flash. n6build adopt writes four lines into
its Makefile. The compiler is that of the distribution.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from samples import sample

from end_to_end.hosts import Host

HERE = "Projects/GS"


class Audio(Host):
    """A copy of the application, adopted, with a compiler that accepts its flags."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "make")
        shutil.rmtree(self.root)
        shutil.copytree(sample("apps/audio"), folder / "audio")
        self.root = folder / "audio"
        told = self.call("n6build", "adopt", ".", "--gcc", "build/gcc")
        assert "Adopted Projects/GS/Makefile, 4 lines added at the end" in told
        assert "4 lines already up to date" in self.call("n6build", "adopt", ".")
        self.compiler = self.root / "build/gcc"
        self.root /= HERE

    def make(self, *arguments: str) -> str:
        return self.call("make", f"GCC_PATH={self.compiler}", *arguments)


@pytest.mark.slow
def test_st_s_audio_application_adopts_n6build(tmp_path: Path) -> None:
    audio = Audio(tmp_path)
    built = audio.make("-j2", "bm", "n6-build")
    assert "At 0x70100000" in built
    results = json.loads((audio.root / "build/n6build/stm32n6570-dk/models-foreign/checks.json").read_text())
    states = {result["id"][-3:]: result["state"] for result in results}
    assert set(states.values()) == {"passed", "not applicable"}
    # The checks of its stack, heap, vectors, linker script, cache and NPU interrupt pass.
    assert {id for id in states if "026" <= id <= "035" and states[id] == "passed"} == {
        *("026", "027", "028", "029", "030", "032", "034")
    }
    # The second call rebuilds nothing of the application and nothing of n6build, which make calls each time.
    assert audio.make("bm", "n6-build").splitlines() == ["make: Nothing to be done for 'bm'."]
    folder = audio.root / "build/n6build/stm32n6570-dk/models-foreign"
    manifest = json.loads((folder / "flash_manifest.json").read_text())
    # The weights equal those that ST publishes, at the address that network.c reads.
    (weights,) = [segment for segment in manifest["segments"] if segment["name"] == "weights"]
    assert weights["address"] == 0x7018_0000
    published = (sample("npu/yamnet-core-2.2") / "aed_weights.bin").read_bytes()
    assert (folder / weights["file"]).read_bytes()[: len(published)] == published
    ran = audio.make("n6-run", "N6_BOARD_OPTIONS=probe=virtual until=instructions:200_000_000")
    assert "Flashed stm32n6570-dk (virtual)" in ran
    assert "Console" in ran
    assert "Finding" not in ran
    # The linker script is for a chip with more RAM.
    audio.replace("STM32CubeIDE/STM32N657XX_LRUN.ld", "LENGTH = 1023K", "LENGTH = 8191K")
    with pytest.raises(AssertionError, match=r"STM32CubeIDE/STM32N657XX_LRUN.ld:47: error N6-CHECK-029: region RAM is"):
        audio.make("n6-build")
