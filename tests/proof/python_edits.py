"""Edits of the library, and an output that each of them has to change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proof.conftest import (
    BOARD,
    ENCRYPTED,
    HOST_FILE,
    INT8_TFLITE,
    LIBRARY,
    LINKED,
    PROJECT_FILE,
    QUANTISED,
    SIGNED,
    SPLIT,
    WHOLE,
)

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Edit:
    """An edit of a module.

    Attributes:
        file: Path below site_scons/n6build.
        kind: Kind of the build.
        differs: Output that the edit changes.
        arguments: Arguments of scons, in place of those of the kind.
    """

    file: str
    old: str
    new: str
    kind: str
    differs: str
    arguments: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return "n6build." + self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


# If the checks or the programs would refuse the edited output, the build has that output as its only goal.
_NETWORK = (f"{LINKED}/network/network.c",)
_RELOC = ("loader=reloc", "model=keyword", "split=1", "gen_c_file=1", "verbosity=1", "reloc")
_WHOLE_RELOC = ("loader=reloc", "model=anomaly", "slots=2", "reloc")


def edits(kind: str, differs: str, *rows: Row, arguments: tuple[str, ...] = ()) -> list[Edit]:
    """Return edits that change the same output.

    Args:
        rows: File, old text and new text of each edit.
    """
    return [Edit(*row, kind, differs, arguments) for row in rows]


def linked(differs: str, *rows: Row) -> list[Edit]:
    return edits("linked", f"{LINKED}/{differs}", *rows)


def of_board(differs: str, *rows: Row) -> list[Edit]:
    return edits("linked", f"{BOARD}/{differs}", *rows)


def of_fsbl(differs: str, *rows: Row) -> list[Edit]:
    return edits("fsbl", f"{BOARD}/{differs}", *rows)


def alone(differs: str, *rows: Row) -> list[Edit]:
    return edits("linked", differs, *rows, arguments=(differs,))


def network(differs: str, *rows: Row) -> list[Edit]:
    return edits("linked", f"{LINKED}/network/{differs}", *rows, arguments=_NETWORK)


def kernels(*rows: Row) -> list[Edit]:
    return alone(f"{BOARD}/include/n6_kernels.h", *rows)


def of_host(*rows: Row) -> list[Edit]:
    return edits("host", HOST_FILE, *rows)


def of_operators() -> Iterator[Edit]:
    """Yield an edit for each operator, also for new ones.

    It renames a kernel, or changes a comment of its descriptor.
    """
    for path in sorted((LIBRARY / "compile/reference").rglob("*.py")):
        found = _KERNEL.search(path.read_text())
        if found:
            yield from kernels((path.relative_to(LIBRARY).as_posix(), found[0], f"{found[0]}new_"))


def for_npu(differs: str, *rows: Row) -> list[Edit]:
    return edits("npu", f"{BOARD}/keyword/network/{differs}", *rows)


def split(differs: str, *rows: Row) -> list[Edit]:
    return edits("split", f"{SPLIT}/{differs}", *rows)


def relocated(differs: str, *rows: Row) -> list[Edit]:
    return edits("split", f"{SPLIT}/network_rel/{differs}", *rows, arguments=_RELOC)


def given(*rows: Row) -> list[Edit]:
    return edits("given", f"{BOARD}/network_rel-reloc/network/network_artifacts.json", *rows)


_KERNEL = re.compile(r'\b(?:Kernel|kernel_with)\(\s*"|\bdoc="')


EDITS = (
    # Int8 models made of float ones, and their figures.
    *edits(
        "quantised",
        "build/quantised/float/net_int8.onnx",
        ("compile/quantise/quantise_onnx.py", "[settings.activations], False", "[settings.activations], True"),
        ("compile/quantise/calibration.py", "samples():\n            calib", "[*samples()][:-9]:\n            calib"),
        ("compile/quantise/float_model.py", "LEAST_OPSET = 13", "LEAST_OPSET = 14"),
    ),
    *edits(
        "quantised",
        QUANTISED,
        ("compile/quantise/samples.py", "spread(range(self.count), most)", "tuple(range(min(self.count, most)))"),
        ("judge/accuracy/run_both.py", "10 * math.log10", "20 * math.log10"),
        ("judge/accuracy/labels.py", "int(each) for each", "3 - int(each) for each"),
        ("judge/accuracy/run_both.py", "None if labels is None else", "0 if labels is not None else"),
    ),
    *edits(
        "quantised",
        QUANTISED.replace(".json", ".xml"),
        ("judge/accuracy/figures.py", '"SQNR inside"', '"inside"'),
        ("base/junit.py", '"system-out"', '"system-err"'),
    ),
    *edits(
        "quantised_tflite",
        INT8_TFLITE,
        ("compile/quantise/quantise_tflite.py", "QuantGranularity.CHANNELWISE if", "QuantGranularity.TENSORWISE if"),
        ("compile/quantise/tflite_model.py", 'name + b"#%d"', 'name + b"_%d"'),
    ),
    # n6build's own blobs.
    *for_npu(
        "network_ecblobs.h",
        ("compile/neural_art/blob_header.py", "_ON_A_LINE = 4", "_ON_A_LINE = 2"),
        ("compile/neural_art/blocks.py", "_ec_blob_{network", "_ec_blob_of_{network"),
        ("compile/neural_art/convolving.py", "calibration.margin + 1", "calibration.margin * 4"),
        (
            "compile/neural_art/padding.py",
            "    epoch.link(given, unit)\n    epoch.link(stream, unit, 1)\n",
            "    epoch.link(stream, unit, 1)\n    epoch.link(given, unit)\n",
        ),
        ("compile/neural_art/hardware_epoch.py", "READ_AHEAD = 64", "READ_AHEAD = 128"),
        ("compile/neural_art/operators/averages.py", '"average_pool_2d"', '"another"'),
        ("compile/neural_art/operators/fully_connected.py", '"fully_connected"', '"another"'),
        ("compile/neural_art/backend.py", "Range(1, 64)] = 1.5", "Range(1, 64)] = 6.0"),
        ("compile/neural_art/program.py", "INTERVAL = 100", "INTERVAL = 101"),
        ("compile/neural_art/registers.py", "gate.bit + index", "gate.bit + index + 1"),
        ("compile/neural_art/requantise.py", "_MOST_SHIFTED = 22", "_MOST_SHIFTED = 18"),
        ("compile/neural_art/streams.py", "frames.count == 1", "frames.count == 0"),
        ("compile/neural_art/units.py", "_ONE_BITS = 16384, 14", "_ONE_BITS = 8192, 13"),
    ),
    *for_npu(
        "network_c_info.json",
        ("compile/neural_art/compile_epochs.py", 'VERSION = "0.5"', 'VERSION = "0.6"'),
        ("compile/neural_art/layer.py", "_kernels_{len", "_weights_{len"),
        ("compile/neural_art/lowering.py", "_part_{number}", "_piece_{number}"),
        ("compile/neural_art/placement.py", '"Read_ahead_of_the_kernels"', '"Read_ahead"'),
    ),
    *for_npu(
        "network_atonbuf.xSPI2.raw",
        ("compile/neural_art/layouts.py", "bytes(-len(data) % _ELEMENT)", 'b"1" * (-len(data) % _ELEMENT)'),
    ),
    *for_npu(
        "network_npu.json",
        ("compile/neural_art/operators/averages.py", '"mean of the image"', '"mean"'),
        ("compile/neural_art/operators/conv_2d.py", "{columns} as ", "{columns} in "),
        ("compile/neural_art/operators/depthwise_conv_2d.py", '"depthwise 3x3"', '"3x3 by channel"'),
        ("compile/neural_art/padding.py", '"pad"', '"padding"'),
        ("compile/neural_art/pointwise.py", "1x1 deep, chain", "deep, chain"),
        ("judge/own_blobs/agreement.py", "far <= 1", "far <= 2"),
        ("judge/own_blobs/digests.py", "hashlib.sha256", "hashlib.sha512"),
        ("judge/own_blobs/envelope.py", "seen from {low}", "seen {low}"),
        ("judge/own_blobs/features.py", '"width": columns,', '"width": columns - 1,'),
        ("judge/own_blobs/figures.py", '"activations": ', '"ram": '),
        ("judge/own_blobs/grades.py", "judged(epoch, names, envelope)", "judged(epoch, names, envelope)[:0]"),
        ("judge/own_blobs/proof.py", "ours.argmax(1) ==", "ours.argmax(1) !="),
        ("judge/own_blobs/reference_tensors.py", "MOST_VECTORS = 16", "MOST_VECTORS = 2"),
        ("judge/own_blobs/figures.py", '_together("all"', '_together("whole"'),
    ),
    # Headers and linker scripts.
    *alone(
        f"{BOARD}/include/n6_soc_system.h",
        ("describe/hardware/soc.py", "(1 << (high - low + 1)) - 1) << low", "(1 << (high - low + 1)) - 1) << low | 1"),
        ("describe/hardware/soc_header.py", '"set_offset": SET_ALIAS', '"set_offset": SET_ALIAS + 4'),
        ("describe/hardware/soc_header.py", 'rf"{letter}R\\1"', 'rf"{letter}\\1"'),
    ),
    *alone(
        f"{BOARD}/include/n6_boot_header.h",
        ("base/c_format.py", 'self.header.upper().replace(".", "_")', 'self.header.upper().replace(".", "__")'),
        ("describe/formats/boot_header.py", '"with its padding extension"', '"with its padding"'),
    ),
    *alone(
        f"{BOARD}/include/n6_console_lines.h",
        ("base/line_format.py", 'yield "n6_put_end();"', 'yield "n6_put_end(); /* new */"'),
    ),
    *alone(
        f"{BOARD}/include/n6_soc_memories.h",
        ("base/yaml_tree.py", "_Named(text, file)", '_Named(text.replace("ITCM", "ITCM0"), file)'),
    ),
    *alone(
        f"{BOARD}/include/n6_soc_cpu.h",
        ("describe/hardware/aliases.py", "SECURE_BIT = 1 << 28", "SECURE_BIT = 1 << 27"),
    ),
    *alone(
        f"{BOARD}/include/n6_board_nor.h",
        ("describe/hardware/nor.py", "return opcode << 8 |", "return opcode << 16 |"),
        ("describe/hardware/board_header.py", "commands.dummy.chosen", "commands.dummy.chosen + 1"),
        ("describe/hardware/board.py", "return -(-self.clock.xspi_source_hz // limit)", "return 2"),
        ("base/templates.py", 'f"0x{value:08X}u"', 'f"0x{value:08x}u"'),
        (
            "base/same_fields.py",
            "**found, **others",
            '**found, **others, **({"jedec_id": 1} if kind.__name__ == "NorConstants" else {})',
        ),
    ),
    *edits(
        "psram",
        "build/stm32n6570-dk/include/n6_board_psram.h",
        ("describe/hardware/psram.py", "self.read_latency.value | self.fixed_latency", "self.read_latency.value"),
        ("describe/hardware/pins.py", "1 << line", "2 << line"),
    ),
    *edits(
        "psram",
        "build/stm32n6570-dk/include/n6_board_vision.h",
        ("describe/hardware/vision.py", "_PHY_HZ, _DCMIPP_HZ = 20_000_000", "_PHY_HZ, _DCMIPP_HZ = 25_000_000"),
    ),
    *alone(
        f"{BOARD}/include/n6_soc_programs.h",
        ("describe/hardware/program_places.py", "return self.image +", "return 64 + self.image +"),
    ),
    *alone(
        f"{BOARD}/include/n6_board_clock.h",
        ("describe/hardware/boards.py", "clock(described.clock_profile or described.max_speed)", 'clock("hsi")'),
    ),
    *of_fsbl("fsbl/fsbl.ld", ("base/templates.py", 'f"0x{value:X}"', 'f"0x0{value:X}"')),
    *of_board(
        "fsbl/fsbl.ld", ("describe/hardware/program_places.py", "_DATA_ALIGNMENT = 256", "_DATA_ALIGNMENT = 512")
    ),
    *linked(
        "appli_image.bin",
        ("describe/hardware/program_places.py", "_APPLI_STACK_BYTES = 16 << 10", "_APPLI_STACK_BYTES = 12 << 10"),
    ),
    # Networks of the reference backend.
    *network(
        "network.c",
        ("compile/reference/compile_model.py", 'VERSION = "1.1"', 'VERSION = "1.2"'),
        ("compile/reference/lowering.py", '_{operator.index}{part}"', '__{operator.index}{part}"'),
        (
            "compile/reference/windows.py",
            "strides, dilations = (options.stride_h,",
            "strides, dilations = (options.stride_h + 1,",
        ),
        ("compile/reference/ranges.py", "output.zero_point + int(rounded)", "output.zero_point + 1 + int(rounded)"),
        ("compile/reference/paddings.py", "tensor.quantisation.zero_point if", "tensor.quantisation.zero_point + 1 if"),
        ("compile/reference/operators/sums.py", "_LEFT_SHIFT_INT16 = 20,", "_LEFT_SHIFT_INT16 = 19,"),
        ("compile/reference/operators/conv_2d.py", "Scratch(2 * column", "Scratch(3 * column"),
        ("compile/reference/operators/quantize.py", '"zero_point": given.', '"zero_point": -given.'),
        ("compile/reference/operators/pools.py", '"MaxPool2D"', '"MaxPool"'),
        ("compile/reference/operators/softmax.py", "options(float) * required", "options(float) / 2 * required"),
    ),
    *network(
        "network_atonbuf.xSPI2.raw",
        ("compile/reference/weights.py", "start - zero_point * sums", "start + zero_point * sums"),
        ("compile/reference/operators/fully_connected.py", "np.array(scales)", "-np.array(scales)"),
    ),
    # The headers of the kernels have operators that this network does not use.
    *kernels(
        ("base/members.py", "in sorted(os.listdir(folder))", "in sorted(os.listdir(folder))[::-1]"),
        ("compile/reference/kernel_headers.py", "_COLUMNS = 120", "_COLUMNS = 100"),
        ("compile/reference/descriptors.py", 'f"{to} *{member.name}"', 'f"{to} * {member.name}"'),
        ("compile/reference/kinds.py", "for kind in KINDS.values()", "for kind in [*KINDS.values()][::-1]"),
    ),
    *of_operators(),
    *network(
        "network.c",
        ("compile/reference/placement.py", "if pool is weights_pool else 0", "if pool is weights_pool else 64"),
        ("compile/reference/adjacent_pools.py", "run[0].start,", "run[0].start + 64,"),
        ("compile/reference/packing.py", "offset = 0\n", "offset = 256\n"),
        ("compile/reference/liveness.py", "ALIGNMENT = 32", "ALIGNMENT = 128"),
        ("compile/reference/network_sources.py", "_READ_AHEAD = 64", "_READ_AHEAD = 96"),
        ("compile/memory_pools.py", "return tuple(pool for pool in pools", "return tuple(pool for pool in pools[::-1]"),
    ),
    *network(
        "network_c_info.json",
        ("compile/reference/lifetimes.py", "fromkeys(inputs, 0)", "fromkeys(inputs, 1)"),
        ("compile/reference/c_info.py", 'f"n6k_{epoch.kernel}"', 'f"n6_{epoch.kernel}"'),
        ("compile/reference/tflite_reader.py", "name = _name(table.Name())", "name = _name(table.Name())[::-1]"),
        ("compile/board_pools.py", "size=span.size,", "size=span.size - 65536,"),
        ("base/files.py", "indent=2, ensure_ascii", "indent=3, ensure_ascii"),
    ),
    *network(
        "network_atonbuf.xSPI2.raw",
        ("compile/reference/fixed_point.py", "floor(mantissa * 2**31 + 0.5)", "floor(mantissa * 2**31 + 2.5)"),
    ),
    *network(
        "network_generate_report.txt",
        ("compile/reference/report.py", '_RULE = "-" * 84', '_RULE = "-" * 85'),
        ("compile/units.py", ":.3f} kB", ":.2f} kB"),
    ),
    # The memory plan.
    *alone(
        f"{LINKED}/memory_plan.json",
        ("place/memory_plan/build_plan.py", "cache_line=board.cache_line", "cache_line=2 * board.cache_line"),
        ("place/memory_plan/build_plan.py", "if port.own", "if not port.own"),
        ("place/memory_plan/board_memory.py", "        soc.cache_line,", "        2 * soc.cache_line,"),
        ("place/memory_plan/images.py", "signature=signature,", "signature=signature ^ 1,"),
        ("compile/artifacts/c_info_reader.py", '["used_size_bytes"].count()', '["used_size_bytes"].count() + 32'),
        ("compile/artifacts/network_c.py", "suffix=name,", 'suffix=name + "x",'),
    ),
    *alone(
        f"{LINKED}/flash_manifest.json",
        ("place/memory_plan/plan.py", "image.file): image.source for", "image.file): image.source + 0x10000 for"),
    ),
    *linked(
        "n6_pools.ld",
        ("place/memory_plan/plan_tables.py", "external regions of {plan.", "outer regions of {plan."),
    ),
    *alone(
        f"{LINKED}/network_app/app_config.h",
        ("compile/artifacts/read_artifacts.py", "outputs=info.outputs,", "outputs=info.outputs[:0],"),
        # The output has ten values.
        (
            "base/bounded.py",
            "json.loads(data, **hooks)",
            'json.loads(data, **({"parse_int": lambda text: int(text) + (text == "10")} if data[:2] == b"{\\n" else hooks))',
        ),
        ("base/json_value.py", "        return data\n", "        return data + (data == 10)\n"),
    ),
    *alone(f"{LINKED}/network/network.c", ("compile/ll_aton.py", 'int(found["DEV"]))', 'int(found["DEV"]) + 1)')),
    *alone(
        f"{BOARD}/include/n6_board_slots.h",
        ("base/size_text.py", "_UNITS[match[2]]", '_UNITS[match[2]] - (0x10000 if text == "48M" else 0)'),
        ("base/yaml_schema.py", "value = size\n", 'value = size - (0x10000 if text == "48M" else 0)\n'),
    ),
    *linked("weights_xSPI2.bin", ("compile/artifacts/signature.py", "return zlib.crc32(", "return 1 ^ zlib.crc32(")),
    # Images.
    *linked("weights_xSPI2.bin", ("place/memory_plan/slot_image.py", "signature=signature", "signature=1 ^ signature")),
    *linked("appli_image.bin", ("describe/formats/slot_trailer.py", 'MAGIC = b"N6IM"', 'MAGIC = b"N6IN"')),
    *split("model.bin", ("describe/formats/model_trailer.py", "LAYOUT = 1", "LAYOUT = 2")),
    *of_board("common/appli/n6_link.o", ("describe/formats/link.py", "VERSION = 3", "VERSION = 4")),
    *of_board("common/appli/n6_appli.o", ("describe/formats/console.py", "n6 done runs=", "n6 DONE runs=")),
    *of_board("common/runtime/ll_aton_npu.o", ("describe/formats/npu_blob.py", "0xCA05_7A7A", "0xCA05_7A7B")),
    *of_board(
        "common/appli/n6_inference.o", ("describe/formats/epoch_marker.py", "STIMULUS_PORT = 24", "STIMULUS_PORT = 25")
    ),
    *of_board("include/n6_recovery_format.h", ("describe/formats/recovery.py", "VERSION = 1", "VERSION = 2")),
    *of_board(
        "include/n6_appli_trailer.h", ("describe/formats/appli_trailer.py", 'MAGIC = b"N6AT"', 'MAGIC = b"N6AU"')
    ),
    *linked(
        "vectors.bin",
        ("place/memory_plan/vectors.py", "len(data) // len(array), data)", "len(data) // len(array), data[::-1])"),
        ("base/npy.py", "return flat.reshape(", "return flat[::-1].reshape("),
        ("steps/slot_images.py", ".data], 0))", ".data], 7))"),
    ),
    *of_board(
        "fsbl_image.bin",
        ("place/image/boot_header.py", "hashlib.shake_128(payload)", "hashlib.shake_256(payload)"),
        ("place/image/elf_reader.py", "(start, joined_parts(segments))", "(start, joined_parts(segments) + bytes(16))"),
    ),
    *alone(
        f"{LINKED}/flash_manifest.json",
        ("place/image/manifest.py", "length, digest, file.offset)", "length, digest.upper(), file.offset)"),
    ),
    # Files beside the manifest.
    *linked(
        "provenance.json",
        ("tell/provenance.py", '_BUILDER = "urn:n6build"', '_BUILDER = "urn:n6built"'),
        ("steps/origin_files.py", "{portable_name(path): digest", '{portable_name(path) + "x": digest'),
        ("steps/origin_files.py", 'digest_of(path), "source")', 'digest_of(path), "header")'),
        ("steps/code_behind.py", "sha256(canonical(digests)", "sha256(canonical([digests])"),
        ("steps/board_files.py", "project_path, board.files)", "project_path, board.files[:1])"),
        ("steps/origin.py", '"runtime": f"', '"run-time": f"'),
    ),
    *linked(
        "notices.txt",
        ("tell/linked.py", "Many small licences", "Some small licences"),
        ("tell/notices.py", '_RULE = "=" * 78', '_RULE = "-" * 78'),
        ("steps/origin_files.py", "notices_text(given.application,", 'notices_text("x",'),
    ),
    *linked(
        "sbom.cdx.json",
        ("tell/sbom.py", '"urn:n6build:sbom"', '"urn:n6build:bom"'),
        ("steps/origin_files.py", "sbom_json(given.application,", 'sbom_json("x",'),
    ),
    *linked("firmware.hex", ("place/image/hexfile.py", 'f"{line}\\n" for line', 'f"{line}\\r\\n" for line')),
    *linked(
        "sizes.txt",
        ("describe/hardware/slots.py", "return Slot(start, end - start)", "return Slot(start, end - start + 4096)"),
        ("place/image/sizes.py", 'f"{name} in RAM"', 'f"{name} in the RAM"'),
    ),
    *linked("sizes.json", ("tell/figures.py", 'f"RAM of {', 'f"RAM for {')),
    # Checks.
    *alone(
        f"{LINKED}/checks.json",
        ("check/run.py", '"not applicable", ())', '"passed", ())'),
        ("check/checked_board.py", 'if "WINDOW" not in name', 'if "AXI" not in name'),
        ("check/rules/numbers.py", "LARGEST_SCALE = 1e3", "LARGEST_SCALE = 1e-6"),
        ("check/rules/numbers.py", ":= version_mismatch", ":= Finding('here', 'proof', 'none') or version_mismatch"),
        ("check/check.py", "return Check(id, title,", "return Check(id, title + '.',"),
    ),
    *linked(
        "checks.json",
        ("check/rules/memory.py", '"every pool is large enough for its contents"', '"every pool holds it"'),
        ("check/rules/programs.py", '"a third-party program leaves', '"another program leaves'),
        ("check/rules/third_party.py", '"third-party programs have a', '"other programs have a'),
        ("check/rules/third_party.py", '"a third-party program cleans', '"another program cleans'),
        ("check/rules/numbers.py", "\"the NPU's formats hold", '"formats hold'),
    ),
    *of_host(
        ("steps/foreign_image.py", "symbols=symbols,", "symbols=(),"),
        ("place/image/declarations.py", ":{int(line.value)}", ":{int(line.value) + 1}"),
        ("place/image/memory_regions.py", "line, counted = 1, 0", "line, counted = 2, 0"),
        ("place/image/linker_map.py", "each.address <= address", "each.address < address"),
        ("place/image/mpu_tables.py", "not base & _READ_ONLY", "bool(base & _READ_ONLY)"),
    ),
    *edits(
        "embedded",
        "build/n6_networks.ld",
        ("steps/host_headers.py", "symbols).decode()", 'symbols).decode() + "; "'),
    ),
    *edits("embedded", "build/include/n6_made.h", ("steps/host_headers.py", "Changes with any", "Changes with each")),
    # Headers for an application.
    *linked(
        "network_app/app_config.h",
        ("compile/application/app_config.py", '" x ".join(', '" by ".join('),
        (
            "compile/application/h7_project.py",
            '(_QVGA, CameraResolution("CAMERA_R320x240"',
            '(_QVGA, CameraResolution("CAMERA_R324x244"',
        ),
        ("describe/application.py", "lcd_width: Dimension = 800", "lcd_width: Dimension = 801"),
    ),
    *linked(
        "network_app/n6_decoder.h",
        ("describe/postprocess.py", "most: Count = 100", "most: Count = 101"),
        ("judge/postprocess/layout.py", 'settings.decoder, "none")', 'settings.decoder, "sigmoid")'),
        ("judge/postprocess/header.py", ':.9g}"', ':.8f}"'),
    ),
    *linked(
        "network_app/n6_picture.h",
        ("judge/postprocess/picture_header.py", "_IN_A_ROW = 16", "_IN_A_ROW = 8"),
        ("compile/quantise/media.py", "np.float32(how.scale)", "np.float32(how.scale / 2)"),
    ),
    *linked("checks.json", ("check/rules/numbers.py", '"outputs fit the decoder', '"outputs suit the decoder')),
    *linked(
        "network_app/app_buffers.h",
        ("compile/application/activation_buffers.py", "Generated from the memory", "Generated of the memory"),
    ),
    # A third-party project with another network.
    *edits(
        "project",
        PROJECT_FILE,
        ("compile/application/vision_project.py", "_OLD_MACROS in read", "_OLD_MACROS not in read"),
        ("compile/adapted_tools.py", "(*added, *more)", '(*added, *more, "-O0")'),
        ("judge/postprocess/st_macros.py", "float(settings.score)", "float(settings.score / 4)"),
    ),
    # Compilation and linking.
    *of_fsbl(
        "include/n6_board_console.h",
        ("engine/call.py", "        step.parameters,\n", '        step.parameters.replace("115200", "57600"),\n'),
    ),
    *of_board("common/kernels/add.o", ("engine/command.py", '"-fno-working-directory"]', '"-g0"]')),
    *of_board(
        "common/runtime/ll_aton_runtime.o",
        ("compile/runtimes.py", "compile_flags=(),", 'compile_flags=("-fno-inline",),'),
    ),
    *of_board(
        "common/bring_up/n6_clock.o",
        ("describe/hardware/cpu.py", '"-mthumb", ', '"-mthumb", "-fno-inline", '),
        ("compile/toolchain.py", '"-O2",', '"-O1",'),
    ),
    *of_board("common/kernels/conv_2d.o", ("steps/firmware.py", 'how.with_flags("-O3")', 'how.with_flags("-O2")')),
    # Relocatable models.
    *relocated(
        "network_reloc.ld", ("place/reloc/model_format.py", "READ_ONLY_ALIGNMENT = 64", "READ_ONLY_ALIGNMENT = 128")
    ),
    *relocated(
        "network_rel.bin",
        ("place/reloc/binary.py", "size = up(end)", "size = up(end) + 64"),
        ("place/reloc/linked_model.py", "(elf, sections, places)))", "(elf, sections, places)))[::-1]"),
        ("base/elf_damage.py", "(section.data())", '(section.data()).replace(b"(RELOC.GCC)", b"(RELOC.gcc)")'),
        ("place/reloc/pools.py", "activation_bytes=sum(", "activation_bytes=16 + sum("),
        ("place/reloc/model_sources.py", "n6build (RELOC.GCC)", "n6build (RELOC.gcc)"),
        ("place/reloc/compilation.py", '"-O3"', '"-O2"'),
        (
            "steps/reloc_model.py",
            "else artifacts.ll_aton or given.runtime.version",
            "else (*(artifacts.ll_aton or given.runtime.version)[:3], 9)",
        ),
    ),
    *relocated("network_rel.c", ("place/reloc/c_file.py", "_BYTES_A_LINE = 16", "_BYTES_A_LINE = 12")),
    *edits(
        "split",
        f"{SPLIT}/reloc_summary.txt",
        ("place/reloc/reloc_text.py", '" +ro sections"', '" and ro sections"'),
        (
            "place/reloc/reader.py",
            "def read_reloc_file(",
            "def read_reloc_file(path):\n    from dataclasses import replace\n\n    model = former_read(path)\n"
            "    return replace(model, pools=model.pools[:-1])\n\n\ndef former_read(",
        ),
        arguments=_RELOC,
    ),
    *split(
        "model.bin",
        ("place/reloc/slots.py", "return zlib.crc32(model.encode())", "return 1 ^ zlib.crc32(model.encode())"),
    ),
    *split(
        "network_rel/network_reloc.json",
        ("place/reloc/description.py", "to_json(asdict(description))", 'to_json(asdict(description)) + "\\n"'),
    ),
    *edits(
        "whole",
        f"{WHOLE}/network_rel/network_rel.bin",
        (
            "steps/reloc_model.py",
            "crc32_of(with_blobs(linked, params_chunks(weights)))",
            "(7, crc32_of(with_blobs(linked, params_chunks(weights)))[1])",
        ),
        arguments=_WHOLE_RELOC,
    ),
    *given(
        # Models that another tool has linked.
        ("compile/artifacts/stored.py", "artifacts.source.name)))", 'artifacts.source.name))) + "\\n"'),
        ("place/reloc/contents.py", '("relocatable model", ', '("a relocatable model", '),
        # The table of buffers begins behind its first entry.
        ("place/reloc/thumb.py", "value(0)", "value(0) + (56 if read(core.value(0) + 4) >> 24 == 0x34 else 0)"),
    ),
    *edits(
        "pools",
        f"{WHOLE}/reloc_pools.txt",
        ("place/reloc/reloc_text.py", 'Table("name (addr)"', 'Table("name (address)"'),
    ),
    # Romfs, third-party programs, and images that another tool signs.
    *edits(
        "romfs",
        f"{BOARD}/romfs/romfs0.img",
        ("place/image/romfs.py", "-unaligned % file.alignment", "-unaligned % file.alignment + file.alignment"),
        ("place/image/haar_cascade.py", "_STAGE_SCALE, _FEATURE_SCALE = 256,", "_STAGE_SCALE, _FEATURE_SCALE = 128,"),
        ("place/image/romfs_manifest.py", "_FILE_ALIGNMENT = ", "_FILE_ALIGNMENT = 64 + 0 * "),
    ),
    *edits(
        "prebuilt",
        f"{BOARD}/elsewhere/inputs/network.npy",
        ("place/memory_plan/vectors.py", "n6build input {", "n6build inputs {"),
    ),
    *edits(
        "prebuilt",
        f"{BOARD}/elsewhere/network/network.c",
        ("compile/prebuilt/imported.py", "path.name, read_bytes(path)", 'path.name, read_bytes(path) + b"\\n"'),
    ),
    *edits(
        "st_edge_ai",
        f"{BOARD}/keyword/network/network_c_info.json",
        ("compile/st_edge_ai/normalise.py", "document, indent=1", "document, indent=2"),
    ),
    *edits(
        "st_edge_ai",
        f"{BOARD}/keyword/network/network_stedgeai.log",
        ("compile/st_edge_ai/run_compiler.py", 'f"{line}\\n" for line in clean', 'f"{line} \\n" for line in clean'),
    ),
    *edits(
        "foreign",
        f"{BOARD}/programs-foreign/appli_placed.bin",
        ("place/image/foreign.py", "BinaryType.SSBL, load.payload_offset", "BinaryType.FSBL, load.payload_offset"),
    ),
    *edits(
        "foreign",
        f"{BOARD}/programs-foreign/data_1.bin",
        ("base/intel_hex.py", "ERASED = 0xFF", "ERASED = 0xFE"),
    ),
    *edits(
        "signed",
        f"{BOARD}/fsbl_image.bin",
        ("place/image/signing.py", "    return image\n", "    return image + bytes(16)\n"),
    ),
    *edits(
        "rom_signed",
        f"{BOARD}/fsbl_image.bin",
        ("place/image/rom_keys.py", "key_number=number", "key_number=number + 1"),
    ),
    *edits(
        "trusted",
        SIGNED[0],
        ("describe/formats/release.py", "LAYOUT = 1", "LAYOUT = 2"),
        ("place/trust/keys.py", 'SIGNATURE_BYTES // 2, "big"', 'SIGNATURE_BYTES // 2, "little"'),
        ("place/trust/sign.py", "counter.to_bytes", "(counter + 1).to_bytes"),
        ("place/trust/release.py", "for part in (content, model, file)", "for part in (model, content, file)"),
    ),
    *edits(
        "trusted",
        f"{BOARD}-trust-full/keyword/appli_mcuboot.bin",
        ("place/image/mcuboot.py", 'ljust(header_bytes, b"\\xff")', 'ljust(header_bytes, b"\\xfe")'),
        ("place/image/mcuboot_format.py", "RAM_LOAD = 0x20", "RAM_LOAD = 0x60"),
    ),
    *edits(
        "encrypted",
        ENCRYPTED[0],
        ("place/trust/encryption.py", '"checksum"', '"reserved_1"'),
        ("describe/formats/encryption.py", "MAGIC = b", 'MAGIC = b"n6en" or b'),
    ),
    *edits(
        "trusted",
        SIGNED[1],
        ("place/trust/anchor.py", "sha256(board.encode())", "sha256(board.encode() + bytes(1))"),
    ),
)

# Modules in the closure of some step that make no bytes of a product, with the reason.
_OF_A_BOARD = "of a board that is programmed or runs; receipts and results of runs are no products"
_REFUSES = "says no, or nothing"
_SHAPES = "shapes of values, which others fill"
_PLANS = "only planning asks it: what it finds are sources and parameters"
_TOLD = "what ST's compiler is told: the stand-in for it does not repeat it in what it makes"
_CARRIES_OUT = "carries out steps and says what was done; what it does to commands is in engine/command.py"
_PACKAGES = """
    n6build n6build.base n6build.board n6build.board.flash n6build.board.run n6build.board.virtual_board n6build.check
    n6build.check.rules n6build.compile n6build.compile.application n6build.compile.artifacts
    n6build.compile.neural_art n6build.compile.neural_art.operators n6build.compile.prebuilt n6build.compile.quantise
    n6build.compile.reference n6build.judge.accuracy
    n6build.compile.reference.operators n6build.compile.st_edge_ai n6build.describe n6build.describe.formats
    n6build.describe.hardware n6build.engine n6build.judge n6build.judge.compare n6build.judge.npu
    n6build.judge.postprocess n6build.judge.own_blobs n6build.place n6build.place.image
    n6build.place.memory_plan n6build.place.reloc n6build.place.trust n6build.steps n6build.tell
"""
_OUTSIDE = "activations in external RAM, of which these builds have none"
_NOT_IN_A_MODEL = "its kernel, if any, is in another module; no model of the project has such an operator"


def _operators_without_kernels() -> Iterator[str]:
    edited = {edit.file for edit in EDITS}
    for path in sorted((LIBRARY / "compile/reference/operators").glob("[!_]*.py")):
        if f"compile/reference/operators/{path.name}" not in edited:
            yield f"n6build.compile.reference.operators.{path.stem}"


_NOT_IN_KEYWORD = """
    onnx_operators plain_chains operators.add operators.max_pool_2d operators.pad operators.copies
"""
_BY_REASON = {
    _SHAPES: """
        n6build.check.subject n6build.compile.backend n6build.compile.artifacts.description
        n6build.compile.reference.epochs n6build.compile.reference.graph n6build.compile.reference.kernel_call
        n6build.compile.reference.operator_kind n6build.compile.reference.operands n6build.base.span
        n6build.place.image.program_board n6build.steps.compiled_network n6build.place.trust.choice
        n6build.engine.step
    """,
    _OF_A_BOARD: """
        n6build.base.file_lock n6build.describe.hardware.blocks
        n6build.describe.hardware.field_registers n6build.describe.hardware.i2c n6build.describe.hardware.npu
        n6build.describe.hardware.fuse
        n6build.describe.hardware.npu_header
        n6build.compile.artifacts.made_buffers n6build.compile.artifacts.buffer_lives n6build.steps.ask_board
        n6build.steps.emulator n6build.steps.run_files n6build.describe.until
        n6build.describe.hardware.debug_port n6build.describe.choices n6build.describe.targets
        n6build.steps.run_files n6build.steps.run_files n6build.steps.run_files
        n6build.steps.decoded_files n6build.judge.accuracy.boxes n6build.judge.postprocess.decode n6build.judge.postprocess.found
        n6build.describe.hardware.blocks
        n6build.base.pictures n6build.board.virtual_board.camera n6build.board.virtual_board.pictures
        n6build.describe.until
    """,
    _PLANS: """
        n6build.base.walk n6build.describe.application_names
        n6build.describe.folder_name n6build.describe.model n6build.describe.backend_names
        n6build.compile.device_headers n6build.compile.runtime_files
        n6build.describe.compiled_folder n6build.compile.st_edge_ai.compiler_profile n6build.compile.kernel_files
        n6build.compile.st_edge_ai.find n6build.base.paths n6build.base.version n6build.describe.option
        n6build.describe.until n6build.describe.preprocess n6build.describe.quantise
        n6build.describe.sample_files n6build.describe.tensorflow_models
        n6build.describe.host_program n6build.steps.plan_part
    """,
    _REFUSES: """
        n6build.describe.hardware.board_rules n6build.describe.relocatable_file n6build.compile.artifacts.c_info_pools
        n6build.compile.artifacts.weights n6build.compile.model_constants
        n6build.describe.compiled_from n6build.judge.own_blobs.structure
        n6build.compile.reference.graph_checks n6build.compile.reference.refusals n6build.compile.reference.refusals
        n6build.compile.reference.reference_options n6build.compile.reference.rules
        n6build.place.memory_plan.whole_image n6build.place.reloc.loader n6build.place.reloc.openmv
        n6build.place.reloc.verify
    """,
    "signatures are random there; the builds of the proof sign with a key of their own": "n6build.place.trust.signers",
    _OUTSIDE: """
        n6build.compile.reference.external_ram n6build.compile.reference.traffic
    """,
    _NOT_IN_A_MODEL: """
        n6build.compile.reference.graph_rewrites n6build.compile.reference.resizing n6build.compile.reference.int16
        n6build.compile.reference.unsigned n6build.compile.reference.tflite_variables
    """,
    _TOLD: """
        n6build.compile.mpool n6build.compile.st_edge_ai.st_edge_ai_options
        n6build.compile.artifacts.c_info_pools
    """,
}
WITHOUT_BYTES = {
    **dict.fromkeys(_PACKAGES.split(), _SHAPES),
    **dict.fromkeys(
        map("n6build.compile.neural_art.{}".format, _NOT_IN_KEYWORD.split()),
        "the build for the NPU has no such operator",
    ),
    **dict.fromkeys(_operators_without_kernels(), _NOT_IN_A_MODEL),
    **{module: reason for reason, modules in _BY_REASON.items() for module in modules.split()},
    "n6build.base.caller": "what messages call the program that was called",
    "n6build.base.processor": "the class of the processor, which is part of the signature",
    "n6build.compile.quantise.opened_model": "reads and fixes shapes by functions that are edited",
    "n6build.compile.quantise.process": _SHAPES,
    "n6build.judge.accuracy.areas": "a class for each pixel, which no network of these builds has",
    "n6build.judge.accuracy.jobs": _SHAPES,
    "n6build.judge.accuracy.worker": "hands over jobs and answers of a process",
    "n6build.base.worker_process": "starts a process, and names its end",
    "n6build.compile.quantise.sessions": "opens sessions of a library, whose own bytes count",
    "n6build.compile.quantise.tflite_shapes": "open sizes but for a batch, which no model of these builds has",
    "n6build.compile.quantise.worker": "hands over jobs and answers of a process",
    "n6build.describe.nearest_paths": "hints",
    "n6build.base.captured": "runs a tool, whose own bytes count",
    "n6build.base.console": "the console",
    "n6build.base.environment": "the caller's environment, of which nothing reaches a file",
    "n6build.base.errors": "errors",
    "n6build.base.foreign_flags": "hints, and flags of ST's runtime, which these builds do not have",
    "n6build.base.findings": "findings, and the errors that they become",
    "n6build.judge.own_blobs.layers": "spares runs of layers that have not changed; what is told is of the blobs",
    "n6build.judge.own_blobs.model_program": "asks a program, whose answers are the proof's",
    "n6build.judge.own_blobs.epoch_grades": "rows of the page about a build",
    "n6build.judge.own_blobs.board_record": "records of boards, of which these builds have none",
    "n6build.judge.own_blobs.confirmed": "records of boards, of which these builds have none",
    "n6build.compile.artifacts.buffer_lives": "a picture in the page about a build",
    "n6build.compile.artifacts.timed_epochs": "rows of the page about a build and of the table of a run",
    "n6build.compile.reference.graph_rewrites": "no model of the project has anything that is folded",
    "n6build.compile.reference.schedule": "another order where that needs less memory, as in no model of the project",
    "n6build.compile.model_facts": "facts for checks, which refuse, and codes of operators: with wrong ones no model can be read",
    "n6build.compile.st_edge_ai.log": "what a tool has said: notes and errors",
    "n6build.compile.lossless": "the descriptor that ST's compiler reads, which leaves no trace but in what it makes",
    "n6build.base.regular_file": "opens files, and hands their bytes on as they are",
    "n6build.base.uses": "notes what was read",
    "n6build.base.svg": "pictures in the page about a build",
}
# All modules of these folders, with the reason.
FOLDERS_WITHOUT_BYTES = {
    "n6build.compile.reference.onnx": "no model of the project is of ONNX; its kernels are edited",
    "n6build.judge.compare.": _OF_A_BOARD,
    "n6build.board.flash.": _OF_A_BOARD,
    "n6build.judge.npu.": "what is told of a network's blobs, of a run and in the page about a build",
    "n6build.board.run.": _OF_A_BOARD,
    "n6build.judge.timing": "what is told of expected times, which nothing is built from",
    "n6build.board.virtual_board.": _OF_A_BOARD,
    "n6build.tell.": "the page about a build, which is another one each time",
    "n6build.engine.": _CARRIES_OUT,
}
