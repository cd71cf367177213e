"""Each error id has one meaning, a row in docs/errors.md, and a test."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs/errors.md"
_ID = re.compile(r"N6-[A-Z]+-\d{3}(?!\d)")
_ROW = re.compile(r"^\| (N6-[A-Z]+-\d{3}) \| (.+?) \| (.+?) \|$", re.MULTILINE)
_DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)
# These texts mention an id without raising it: hints to the firmware's messages, comparisons, and sentences.
_SPOKEN_OF = re.compile(r"_FIRMWARE_HINTS = \{.*?\n\}|\.id [!=]= \"[-\w]+\"|\(N6-[A-Z]+-\d{3}\)", re.DOTALL)

# Ids that several modules raise -> the reason why the meaning is the same.
SAME_MEANING = {
    "N6-BOARD-003": "a clock that the board cannot have, in board.yaml or on the command line",
    "N6-CAPTURE-001": "a captured file that has nothing to compare, or is not there",
    "N6-CAPTURE-002": "too much text or too many values, of a file or of a dump in it",
    "N6-FILE-001": "a file that cannot be written is one wherever it is",
    "N6-FILE-002": "a file that cannot be read is one wherever it is",
    "N6-FLASH-004": "what was read back, by us or by the programmer",
    "N6-FLASH-007": "the programmer does not answer as one",
    "N6-IMAGE-004": "a boot header, by itself or in its slot",
    "N6-IMAGE-006": "an overlap, as parts of a hex file or as sectors",
    "N6-IMAGE-007": "a list of what goes to flash, damaged",
    "N6-LINK-001": "a board that says nothing, at once or later",
    "N6-LINK-003": "a request that is refused, by an Appli or by an FSBL that waits",
    "N6-LINK-005": "a board that starts again, at once or later",
    "N6-LLATON-002": "ST's runtime, or a part of it, is not in a folder or around it",
    "N6-MODEL-001": "no such model, by option or as a word of the command line",
    "N6-MODEL-006": "a file with another digest, of the int8 model or of the float one",
    "N6-MODEL-020": "a damaged model file, as a compiler or the quantiser reads it",
    "N6-MODEL-007": "a name, in model.yaml or of the file of a compiled network",
    "N6-NET-001": "a file that is no model of its kind, .tflite or .onnx",
    "N6-NET-002": "a damaged file, .tflite or .onnx",
    "N6-NET-003": "an operator, of .tflite or .onnx",
    "N6-NET-004": "a type, of a tensor alone or where an operator meets it",
    "N6-NET-005": "a shape, of a tensor alone or where an operator meets it",
    "N6-NET-006": "quantisation, of a tensor or of operands together",
    "N6-NET-007": "an operator in a form that has no kernel",
    "N6-NET-008": "what a model asks for, by itself or in an operator",
    "N6-NET-020": "c_info or network.c says what nobody can use",
    "N6-NET-024": "a backend that cannot take the model",
    "N6-OPTION-001": "an option that nobody knows, as a word or with dashes",
    "N6-OPTION-003": "a word for what is to be done",
    "N6-OPTION-002": "a value that is not possible, by itself or with another",
    "N6-NPU-002": "a blob is damaged, or the container around it",
    "N6-OPTION-004": "something of relocatable models, without them",
    "N6-OPTION-006": "dry=1 where it cannot say what would happen",
    "N6-OPTION-013": "an option that makes no sense with programs of one's own",
    "N6-OPTION-008": "mode with a target that it cannot go with",
    "N6-OPTION-019": "words that do not go with the command",
    "N6-QUANT-001": "a model that cannot be quantised here, by its name or by its content",
    "N6-MODEL-002": "a model in another format, of TensorFlow or of anything else",
    "N6-QUANT-002": "an input without a size, or a size without an input, of .onnx or .tflite",
    "N6-QUANT-003": "a name of an output that the model does not have, of .onnx or .tflite",
    "N6-QUANT-007": "a quantiser that fails, of .onnx or .tflite",
    "N6-QUANT-015": "an output that is a constant, of .onnx or .tflite",
    "N6-QUANT-004": "a float model that ONNX Runtime refuses, at its conversion or at its first session",
    "N6-QUANT-005": "samples that are not inputs of this model, by their files or by their values",
    "N6-QUANT-011": "a package of the extra [quantise] that is not installed",
    "N6-QUANT-008": "an int8 model that cannot be run, when it is made or measured",
    "N6-QUANT-012": "labels that do not fit, of samples or of pixels",
    "N6-RELOC-010": "an ELF file that is not a model",
    "N6-RUN-004": "what the virtual board objects to, in either kind of run",
    "N6-RUN-001": "a fault, seen on the console or over the link",
    "N6-SLOT-002": "option addresses",
    "N6-CACHE-001": "a cache that cannot be used, and what becomes of a build then",
    "N6-CACHE-002": "an entry that is damaged, and what becomes of a build then",
    "N6-REMOTE-003": "a server that is not there, and what becomes of a build then",
    "N6-REMOTE-006": "an answer that cannot be true, and what becomes of a build then",
    "N6-REMOTE-002": "what is approached with cannot be used, by itself or by TLS",
    "N6-REMOTE-004": "a server that refuses, before or when it is asked",
    "N6-REMOTE-005": "a server that failed, in all of a call or in a part",
    "N6-STEP-005": "a step without what it should make",
    "N6-STEP-007": "what a step does",
    "N6-VB-002": "what is said, and the exit status after it",
    "N6-YAML-003": "a key that nobody knows, of a schema, of backends or of one",
    "N6-FW-020": "a slot, of the Appli's weights or of a model",
    "N6-FW-021": "a slot, of the Appli's weights or of a model",
    "N6-FW-022": "a slot, of the Appli's weights or of a model",
    "N6-FW-023": "a slot, of the Appli's weights or of a model",
    "N6-FW-027": "a cache, of either Appli",
    "N6-FW-028": "buffers, of either Appli",
    "N6-FW-083": "memory that is not a model's, in its self-test or later",
}

# Ids that no test provokes yet. The list may only become shorter.
NOT_YET_PROVOKED: frozenset[str] = frozenset()


def raised() -> dict[str, set[str]]:
    """Return id -> files that raise or print it.

    Docstrings and tables of hints only mention ids, so they do not count.
    """
    places: dict[str, set[str]] = defaultdict(set)
    for folder, suffixes in (("site_scons", {".py"}), ("tools", {".py"}), ("firmware", {".c", ".h"})):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes:
                text = _SPOKEN_OF.sub("", _DOCSTRING.sub("", path.read_text()))
                for id in _ID.findall(text):
                    places[id].add(path.relative_to(ROOT).as_posix())
    return places


def listed() -> dict[str, tuple[str, str]]:
    return {id: (meaning, cure) for id, meaning, cure in _ROW.findall(INDEX.read_text())}


def test_every_error_is_in_the_index_and_nothing_else_is() -> None:
    assert set(raised()) - set(listed()) == set()
    assert set(listed()) - set(raised()) == set()


def test_the_index_lists_each_once_by_area_with_a_cure() -> None:
    ids = [row[0] for row in _ROW.findall(INDEX.read_text())]
    assert len(ids) == len(set(ids))
    assert len(ids) == len(re.findall(r"^\| N6-", INDEX.read_text(), re.MULTILINE))
    for section in INDEX.read_text().split("\n## ")[1:]:
        of_section = [row[0] for row in _ROW.findall(section)]
        by_area = sorted(
            of_section, key=lambda id: ([each.split("-")[1] for each in of_section].index(id.split("-")[1]), id)
        )
        assert of_section == by_area
    assert all(meaning.endswith(".") and cure.endswith((".", "?")) for meaning, cure in listed().values())


def test_no_id_means_two_things() -> None:
    several = {id for id, files in raised().items() if len(files) > 1}
    assert several == set(SAME_MEANING)
    meanings = [meaning for meaning, _ in listed().values()]
    assert len(meanings) == len(set(meanings))


def test_every_error_is_provoked_by_a_test() -> None:
    texts = [
        path.read_text()
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != Path(__file__) and "examples" not in path.parts
    ]
    named = {id for text in texts for id in _ID.findall(text)}
    assert set(listed()) - named - NOT_YET_PROVOKED == set()
    assert NOT_YET_PROVOKED & named == set(), "these are provoked now: strike them from the list"
    assert NOT_YET_PROVOKED - set(listed()) == set()
