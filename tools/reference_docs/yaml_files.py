"""Pages about the YAML files: keys from their schemas, examples from files."""

from __future__ import annotations

from pathlib import Path

from n6build.compile.neural_art.backend import NpuOptions
from n6build.compile.st_edge_ai.st_edge_ai_options import CompilerOptions
from n6build.describe.hardware.board import BoardFile
from n6build.describe.hardware.i2c import I2cPart
from n6build.describe.hardware.nor import NorCommands
from n6build.describe.hardware.psram import PsramCommands
from n6build.describe.hardware.soc import Soc
from n6build.describe.model import ModelFile

from reference_docs.markdown import page
from reference_docs.schema import examples_in, key_table

# These are the schemas of backends below `network` in a model.yaml.
BACKENDS = {"neural_art": NpuOptions, "st_edge_ai": CompilerOptions}
MODEL_EXAMPLE = Path(__file__).with_name("model.example.yaml")

_READING = """\
`<name>` stands for a name of your choice, `[]` for each item of a list. Sizes are bytes, with K, M or G as powers of 1024;
addresses are best written as 0x70000000; clocks are in Hz. An unknown key, a missing one or a value of another type is an error
with file, line and key ([N6-YAML](../errors.md#yaml))."""
_BOARD = """\
`boards/<name>/board.yaml` describes a board: what is soldered to the chip, and how its flash is divided. The file lies in your
project's own folder or in this repository's; yours comes first. [Your own board, chip and model](../own-board.md) says what to
write first, and every board that comes with n6build has [a page](../boards/index.md)."""
_MODEL = """\
`models/<name>/model.yaml`, or a `model.yaml` in any folder that `model=` names, says what a network is for. None is needed for a
bare `.tflite` or `.onnx` file, or a folder with a compiled network. In place of a file it may name a network that was compiled
elsewhere (`network.folder`)."""
_CHIP = """\
`boards/soc/<name>.yaml` describes a chip: memories, registers, clocks, pools and profiles. A chip of the family includes
`stm32n6.yaml` and writes what differs, about ten lines. Addresses are those of the secure alias."""
_PARTS = """\
What a part is sent is described once for its family, and named by the boards that have one."""


def yaml_pages(root: Path) -> dict[str, str]:
    """Return the pages by place in the site."""
    boards = sorted(root.glob("boards/*/board.yaml"))
    # The board of the README comes first.
    boards.sort(key=lambda path: path.parent.name != "nucleo-n657")
    return {
        "reference/board-yaml.md": page("board.yaml", _BOARD, _READING, _keys(BoardFile, boards)),
        "reference/model-yaml.md": page(
            "model.yaml",
            _MODEL,
            _READING,
            key_table(ModelFile, examples_in([MODEL_EXAMPLE], ModelFile, BACKENDS), BACKENDS),
            "## All of it",
            "Every key at once; no model needs more than a few.",
            "".join(f"    {line}\n" for line in MODEL_EXAMPLE.read_text(encoding="utf-8").splitlines()),
        ),
        "reference/chip-yaml.md": page(
            "Chips and parts",
            _READING,
            "## Chips",
            _CHIP,
            _keys(Soc, sorted(root.glob("boards/soc/stm32n6*.yaml"))),
            "## Parts",
            _PARTS,
            "### Serial NOR, in boards/nor",
            _keys(NorCommands, sorted(root.glob("boards/nor/*.yaml"))),
            "### PSRAM, in boards/psram",
            _keys(PsramCommands, sorted(root.glob("boards/psram/*.yaml"))),
            "### Devices on I2C, in boards/i2c",
            _keys(I2cPart, sorted(root.glob("boards/i2c/*.yaml"))),
        ),
    }


def _keys(schema: type, files: list[Path]) -> str:
    return key_table(schema, examples_in(files, schema))
