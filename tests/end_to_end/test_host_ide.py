"""STM32CubeIDE: the build of a managed project with the two lines of its page.

A makefile imitates the one that the IDE writes.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from end_to_end.hosts import ROOT, Host

# The IDE writes such makefiles: one make for each part, ignored results of both steps, all in the
# configuration's folder.
MAKEFILE = """
USER_OBJS := n6build/libn6networks.a n6build/n6_networks.ld
OBJS := ./src/main.o ./src/sensor.o ./src/startup.o ./drivers/uart.o
CPU := -mcpu=cortex-m55 -mthumb -mfloat-abi=hard
COMPILE = arm-none-eabi-gcc "$<" $(CPU) -std=gnu11 -g3 -O2 -c -I../src -I../drivers -I"INCLUDE" -o "$@"

all:
	+@$(MAKE) --no-print-directory pre-build && $(MAKE) --no-print-directory main-build

main-build: app.elf

app.elf: $(OBJS) $(USER_OBJS) ../board.ld
	arm-none-eabi-gcc -o "app.elf" $(OBJS) $(USER_OBJS) $(CPU) -T"../board.ld" -nostartfiles --specs=nano.specs \
		-Wl,--gc-sections -Wl,--no-warn-rwx-segments
	@echo 'Finished building target: $@'
	@echo ' '
	$(MAKE) --no-print-directory post-build

src/%.o: ../src/%.c
	@mkdir -p $(@D)
	$(COMPILE)

drivers/%.o: ../drivers/%.c
	@mkdir -p $(@D)
	$(COMPILE)

pre-build:
	-PRE
	-@echo ' '

post-build:
	-POST
	-@echo ' '

.PHONY: all clean main-build pre-build post-build
"""


def line(name: str) -> str:
    """Return a line of the page, expanded as in the IDE."""
    text = (ROOT / "docs/embedding/stm32cubeide.md").read_text()
    (found,) = re.findall(rf"<!-- {name} -->\n```\n(.*)\n```", text)
    return str(found).replace("${BuildArtifactFileName}", "app.elf").replace("STM32N657XX_LRUN.ld", "board.ld")


def test_a_project_of_the_ide(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    (host.root / "Makefile").unlink()
    (host.root / "model").mkdir()
    model = host.root / "model/keyword.tflite"
    shutil.copy(ROOT / "models/keyword/keyword.tflite", model)
    (host.root / "Debug").mkdir()
    text = MAKEFILE.replace("PRE", line("pre-build")).replace("POST", line("post-build"))
    include = host.call("n6build", "--include-dir").strip()
    (host.root / "Debug/makefile").write_text(text.replace("INCLUDE", include))
    build = ("make", "-C", "Debug", "-j2", "all")
    first = host.call(*build)
    assert (
        first.index("Archive n6build") < first.index("Finished building target: app.elf") < first.index("Place n6build")
    )
    assert re.search(r"Checks \d+ passed, \d+ had nothing to check", first)
    ran = host.call(
        *(
            "sh",
            "-c",
            f"cd Debug && {line('post-build').replace(' build ', ' flash run ')} probe=virtual until=text:'host: done'",
        )
    )
    assert re.search(r"Console host: keyword says \d+ of 12", ran)
    again = host.call(*build)
    assert "Network" not in again and "Finished" not in again
    # The IDE shows an error of a step and goes on.
    host.replace("board.ld", "LENGTH = 0xFFC00", "LENGTH = 0xFFFC00")
    wrong = host.call(*build)
    assert "board.ld:4: error N6-CHECK-029: region RAM is" in wrong
    assert "(ignored)" in wrong
    # Flashing stops at the error.
    with pytest.raises(AssertionError, match="N6-CHECK-029"):
        host.call("sh", "-c", f"cd Debug && {line('post-build').replace(' build ', ' flash ')} probe=virtual")
