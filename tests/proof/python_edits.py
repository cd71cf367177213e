"""Edits of the library, and an output that each of them has to change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proof.conftest import BOARD, HOST_FILE, LIBRARY, LINKED, SIGNED, SPLIT, WHOLE


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


def linked(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "linked", f"{LINKED}/{differs}")


def of_board(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "linked", f"{BOARD}/{differs}")


def of_fsbl(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "fsbl", f"{BOARD}/{differs}")


def alone(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "linked", differs, (differs,))


def network(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "linked", f"{LINKED}/network/{differs}", _NETWORK)


def kernels(file: str, old: str, new: str) -> Edit:
    return alone(file, old, new, f"{BOARD}/include/n6_kernels.h")


def of_host(file: str, old: str, new: str) -> Edit:
    return Edit(file, old, new, "host", HOST_FILE)


def of_operators() -> Iterator[Edit]:
    """Yield an edit for each operator, also for new ones.

    It renames a kernel, or changes a comment of its descriptor.
    """
    for path in sorted((LIBRARY / "compile/reference").rglob("*.py")):
        found = _KERNEL.search(path.read_text())
        file = path.relative_to(LIBRARY).as_posix()
        if found:
            yield kernels(file, found[0], f"{found[0]}new_")


def for_npu(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "npu", f"{BOARD}/keyword/network/{differs}")


def split(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "split", f"{SPLIT}/{differs}")


def relocated(file: str, old: str, new: str, differs: str) -> Edit:
    return Edit(file, old, new, "split", f"{SPLIT}/network_rel/{differs}", _RELOC)


def given(file: str, old: str, new: str) -> Edit:
    return Edit(file, old, new, "given", f"{BOARD}/network_rel-reloc/network/network_artifacts.json")


_KERNEL = re.compile(r'\b(?:Kernel|kernel_with)\(\s*"|\bdoc="')


EDITS = (
    # n6build's own blobs.
    for_npu("compile/neural_art/blob_header.py", "_ON_A_LINE = 4", "_ON_A_LINE = 2", "network_ecblobs.h"),
    for_npu("compile/neural_art/blocks.py", "_ec_blob_{network", "_ec_blob_of_{network", "network_ecblobs.h"),
    for_npu("compile/neural_art/compile_epochs.py", 'VERSION = "0.4"', 'VERSION = "0.5"', "network_c_info.json"),
    for_npu(
        "compile/neural_art/convolving.py", "calibration.margin + 1", "calibration.margin * 4", "network_ecblobs.h"
    ),
    for_npu(
        "compile/neural_art/depthwise.py",
        "    epoch.link(given, unit)\n    epoch.link(stream, unit, 1)\n",
        "    epoch.link(stream, unit, 1)\n    epoch.link(given, unit)\n",
        "network_ecblobs.h",
    ),
    for_npu("compile/neural_art/hardware_epoch.py", "READ_AHEAD = 64", "READ_AHEAD = 128", "network_ecblobs.h"),
    for_npu("compile/neural_art/layer.py", "_kernels_{len", "_weights_{len", "network_c_info.json"),
    for_npu(
        "compile/neural_art/layouts.py",
        "bytes(-len(data) % _ELEMENT)",
        'b"1" * (-len(data) % _ELEMENT)',
        "network_atonbuf.xSPI2.raw",
    ),
    for_npu("compile/neural_art/lowering.py", "_part_{number}", "_piece_{number}", "network_c_info.json"),
    for_npu("compile/neural_art/operators/averages.py", '"mean of the image"', '"mean"', "network_npu.json"),
    for_npu(
        "compile/neural_art/operators/averages.py",
        '"AVERAGE_POOL_2D", "average_pool_2d"',
        '"AVERAGE_POOL_2D", "another"',
        "network_ecblobs.h",
    ),
    for_npu("compile/neural_art/operators/conv_2d.py", "{columns} as ", "{columns} in ", "network_npu.json"),
    for_npu(
        "compile/neural_art/operators/depthwise_conv_2d.py", '"depthwise 3x3"', '"3x3 by channel"', "network_npu.json"
    ),
    for_npu(
        "compile/neural_art/operators/fully_connected.py",
        '"FULLY_CONNECTED", "fully_connected"',
        '"FULLY_CONNECTED", "another"',
        "network_ecblobs.h",
    ),
    for_npu(
        "compile/neural_art/neural_art_options.py", "Range(1, 64)] = 1.5", "Range(1, 64)] = 6.0", "network_ecblobs.h"
    ),
    for_npu("compile/neural_art/padding.py", '"pad"', '"padding"', "network_npu.json"),
    for_npu("compile/neural_art/placement.py", '"Read_ahead_of_the_kernels"', '"Read_ahead"', "network_c_info.json"),
    for_npu("compile/neural_art/pointwise.py", "1x1 deep, chain", "deep, chain", "network_npu.json"),
    for_npu("compile/neural_art/program.py", "INTERVAL = 100", "INTERVAL = 101", "network_ecblobs.h"),
    for_npu("compile/neural_art/registers.py", "gate.bit + index", "gate.bit + index + 1", "network_ecblobs.h"),
    for_npu(
        "compile/neural_art/requantise.py",
        "_MOST_SHIFTED = 22",
        "_MOST_SHIFTED = 18",
        "network_ecblobs.h",
    ),
    for_npu("compile/neural_art/streams.py", "frames.count == 1", "frames.count == 0", "network_ecblobs.h"),
    for_npu("compile/neural_art/units.py", "_ONE_BITS = 16384, 14", "_ONE_BITS = 8192, 13", "network_ecblobs.h"),
    for_npu("judge/own_blobs/agreement.py", "far <= 1", "far <= 2", "network_npu.json"),
    for_npu("judge/own_blobs/digests.py", "hashlib.sha256", "hashlib.sha512", "network_npu.json"),
    for_npu("judge/own_blobs/envelope.py", "seen from {low}", "seen {low}", "network_npu.json"),
    for_npu("judge/own_blobs/features.py", '"width": columns,', '"width": columns - 1,', "network_npu.json"),
    for_npu("judge/own_blobs/figures.py", '"activations": ', '"ram": ', "network_npu.json"),
    for_npu(
        "judge/own_blobs/grades.py",
        "judged(epoch, names, envelope)",
        "judged(epoch, names, envelope)[:0]",
        "network_npu.json",
    ),
    for_npu("judge/own_blobs/proof.py", "ours.argmax(1) ==", "ours.argmax(1) !=", "network_npu.json"),
    for_npu("judge/own_blobs/reference_tensors.py", "MOST_VECTORS = 16", "MOST_VECTORS = 2", "network_npu.json"),
    for_npu("judge/own_blobs/workload.py", '_together("all"', '_together("whole"', "network_npu.json"),
    # Headers and linker scripts.
    alone(
        "describe/hardware/soc.py",
        "((1 << (high - low + 1)) - 1) << low",
        "((1 << (high - low + 1)) - 1) << low | 1",
        f"{BOARD}/include/n6_soc_system.h",
    ),
    alone(
        "base/c_format.py",
        'return self.header.upper().replace(".", "_")',
        'return self.header.upper().replace(".", "__")',
        f"{BOARD}/include/n6_boot_header.h",
    ),
    alone(
        "base/line_format.py",
        'yield "n6_put_end();"',
        'yield "n6_put_end(); /* new */"',
        f"{BOARD}/include/n6_console_lines.h",
    ),
    alone(
        "describe/formats/boot_header.py",
        '"with its padding extension"',
        '"with its padding"',
        f"{BOARD}/include/n6_boot_header.h",
    ),
    alone(
        "base/yaml_tree.py",
        "yaml.compose(_Named(text, file)",
        'yaml.compose(_Named(text.replace("ITCM", "ITCM0"), file)',
        f"{BOARD}/include/n6_soc_memories.h",
    ),
    alone(
        "describe/hardware/aliases.py", "SECURE_BIT = 1 << 28", "SECURE_BIT = 1 << 27", f"{BOARD}/include/n6_soc_cpu.h"
    ),
    alone(
        "describe/hardware/nor.py", "return opcode << 8 |", "return opcode << 16 |", f"{BOARD}/include/n6_board_nor.h"
    ),
    Edit(
        "describe/hardware/psram.py",
        "self.read_latency.value | self.fixed_latency",
        "self.read_latency.value",
        "psram",
        "build/stm32n6570-dk/include/n6_board_psram.h",
    ),
    alone(
        "describe/hardware/soc_header.py",
        '"set_offset": SET_ALIAS',
        '"set_offset": SET_ALIAS + 4',
        f"{BOARD}/include/n6_soc_system.h",
    ),
    alone(
        "describe/hardware/board_header.py",
        "dummy_cycles=commands.dummy.chosen",
        "dummy_cycles=commands.dummy.chosen + 1",
        f"{BOARD}/include/n6_board_nor.h",
    ),
    alone(
        "describe/hardware/program_places.py",
        "return self.image +",
        "return 64 + self.image +",
        f"{BOARD}/include/n6_soc_programs.h",
    ),
    alone(
        "describe/hardware/boards.py",
        "clock=soc.clock(described.clock_profile or described.max_speed)",
        'clock=soc.clock("hsi")',
        f"{BOARD}/include/n6_board_clock.h",
    ),
    alone(
        "describe/hardware/board.py",
        "return -(-self.clock.xspi_source_hz // limit)",
        "return 2",
        f"{BOARD}/include/n6_board_nor.h",
    ),
    alone("base/templates.py", 'f"0x{value:08X}u"', 'f"0x{value:08x}u"', f"{BOARD}/include/n6_board_nor.h"),
    of_fsbl("base/templates.py", 'f"0x{value:X}"', 'f"0x0{value:X}"', "fsbl/fsbl.ld"),
    alone("describe/hardware/soc_header.py", 'rf"{letter}R\\1"', 'rf"{letter}\\1"', f"{BOARD}/include/n6_soc_system.h"),
    of_board("describe/hardware/linker_script.py", "_DATA_ALIGNMENT = 256", "_DATA_ALIGNMENT = 512", "fsbl/fsbl.ld"),
    linked(
        "describe/hardware/linker_script.py",
        "_APPLI_STACK_BYTES = 16 << 10",
        "_APPLI_STACK_BYTES = 12 << 10",
        "appli_image.bin",
    ),
    # Networks of the reference backend.
    network("compile/reference/compile_model.py", 'VERSION = "1.1"', 'VERSION = "1.2"', "network.c"),
    network("compile/reference/lowering.py", '_{operator.index}{part}"', '__{operator.index}{part}"', "network.c"),
    network(
        "compile/reference/windows.py",
        '"stride_h": options.stride_h,',
        '"stride_h": options.stride_h + 1,',
        "network.c",
    ),
    network(
        "compile/reference/weights.py",
        "start - zero_point * sums",
        "start + zero_point * sums",
        "network_atonbuf.xSPI2.raw",
    ),
    network(
        "compile/reference/ranges.py",
        "output.zero_point + int(rounded)",
        "output.zero_point + 1 + int(rounded)",
        "network.c",
    ),
    network(
        "compile/reference/paddings.py",
        "return tensor.quantisation.zero_point if",
        "return tensor.quantisation.zero_point + 1 if",
        "network.c",
    ),
    network("compile/reference/operators/sums.py", "_LEFT_SHIFT_INT16 = 20,", "_LEFT_SHIFT_INT16 = 19,", "network.c"),
    network("compile/reference/operators/conv_2d.py", "Scratch(2 * column", "Scratch(3 * column", "network.c"),
    network(
        "compile/reference/operators/quantize.py",
        '"zero_point": given.zero_point',
        '"zero_point": -given.zero_point',
        "network.c",
    ),
    network(
        "compile/reference/operators/fully_connected.py",
        "np.array(scales)",
        "-np.array(scales)",
        "network_atonbuf.xSPI2.raw",
    ),
    network("compile/reference/operators/pools.py", '"MaxPool2D"', '"MaxPool"', "network.c"),
    network(
        "compile/reference/operators/softmax.py",
        "options(float) * required",
        "options(float) / 2 * required",
        "network.c",
    ),
    # The headers of the kernels have operators that this network does not use.
    kernels("base/members.py", "in sorted(os.listdir(folder))", "in sorted(os.listdir(folder))[::-1]"),
    kernels("compile/reference/kernel_headers.py", "_COLUMNS = 120", "_COLUMNS = 100"),
    kernels("compile/reference/descriptors.py", 'f"{to} *{member.name}"', 'f"{to} * {member.name}"'),
    kernels("compile/reference/kinds.py", "for kind in KINDS.values()", "for kind in [*KINDS.values()][::-1]"),
    *of_operators(),
    network(
        "compile/reference/placement.py",
        "if pool is weights_pool else 0",
        "if pool is weights_pool else 64",
        "network.c",
    ),
    network("compile/reference/adjacent_pools.py", "run[0].start,", "run[0].start + 64,", "network.c"),
    network("compile/reference/packing.py", "offset = 0\n", "offset = 256\n", "network.c"),
    network("compile/reference/lifetimes.py", "fromkeys(inputs, 0)", "fromkeys(inputs, 1)", "network_c_info.json"),
    network("compile/reference/liveness.py", "ALIGNMENT = 32", "ALIGNMENT = 128", "network.c"),
    network(
        "compile/reference/fixed_point.py",
        "math.floor(mantissa * 2**31 + 0.5)",
        "math.floor(mantissa * 2**31 + 2.5)",
        "network_atonbuf.xSPI2.raw",
    ),
    network("compile/reference/generated_c.py", "_READ_AHEAD = 64", "_READ_AHEAD = 96", "network.c"),
    network("compile/reference/report.py", '_RULE = "-" * 84', '_RULE = "-" * 85', "network_generate_report.txt"),
    network("compile/units.py", ":.3f} kB", ":.2f} kB", "network_generate_report.txt"),
    network("compile/reference/c_info.py", 'f"n6k_{epoch.kernel}"', 'f"n6_{epoch.kernel}"', "network_c_info.json"),
    network(
        "compile/reference/tflite_reader.py",
        "name = _name(table.Name())",
        "name = _name(table.Name())[::-1]",
        "network_c_info.json",
    ),
    network(
        "compile/memory_pools.py",
        "return tuple(pool for pool in pools if",
        "return tuple(pool for pool in pools[::-1] if",
        "network.c",
    ),
    network("compile/board_pools.py", "size=span.size,", "size=span.size - 65536,", "network_c_info.json"),
    network("base/files.py", "indent=2, ensure_ascii", "indent=3, ensure_ascii", "network_c_info.json"),
    # The memory plan.
    alone(
        "place/memory_plan/build_plan.py",
        "cache_line=board.cache_line",
        "cache_line=2 * board.cache_line",
        f"{LINKED}/memory_plan.json",
    ),
    alone("place/memory_plan/own_buffers.py", "if port.own", "if not port.own", f"{LINKED}/memory_plan.json"),
    alone(
        "place/memory_plan/board_memory.py",
        "        soc.cache_line,",
        "        2 * soc.cache_line,",
        f"{LINKED}/memory_plan.json",
    ),
    alone(
        "place/memory_plan/images.py", "signature=signature,", "signature=signature ^ 1,", f"{LINKED}/memory_plan.json"
    ),
    alone(
        "place/memory_plan/plan.py",
        "image.file): image.source for",
        "image.file): image.source + 0x10000 for",
        f"{LINKED}/flash_manifest.json",
    ),
    linked(
        "place/memory_plan/generated_c.py",
        "external regions of {plan.application}.",
        "outer regions of {plan.application}.",
        "n6_pools.ld",
    ),
    alone(
        "base/bounded.py",
        "json.loads(data, **hooks)",
        'json.loads(data, **({"parse_float": lambda text: float(text) * 1e9} if data[:2] == b"{\\n" else hooks))',
        f"{LINKED}/checks.json",
    ),
    alone(
        "compile/artifacts/c_info_reader.py",
        'used_bytes=pool["used_size_bytes"].count()',
        'used_bytes=pool["used_size_bytes"].count() + 32',
        f"{LINKED}/memory_plan.json",
    ),
    alone(
        "base/json_value.py",
        "return float(self.data)",
        "return float(self.data) * 1e9",
        f"{LINKED}/checks.json",
    ),
    alone("compile/artifacts/network_c.py", "suffix=name,", 'suffix=name + "x",', f"{LINKED}/memory_plan.json"),
    alone(
        "compile/artifacts/read_artifacts.py",
        "outputs=info.outputs,",
        "outputs=info.outputs[:0],",
        f"{LINKED}/network_app/app_config.h",
    ),
    alone("compile/ll_aton.py", 'int(found["DEV"]))', 'int(found["DEV"]) + 1)', f"{LINKED}/network/network.c"),
    alone(
        "base/size_text.py",
        "return int(match[1]) * _UNITS[match[2]]",
        'return int(match[1]) * _UNITS[match[2]] - (0x10000 if text == "48M" else 0)',
        f"{BOARD}/include/n6_board_slots.h",
    ),
    alone(
        "base/yaml_schema.py",
        "value = size\n",
        'value = size - (0x10000 if text == "48M" else 0)\n',
        f"{BOARD}/include/n6_board_slots.h",
    ),
    linked("compile/artifacts/signature.py", "return zlib.crc32(", "return 1 ^ zlib.crc32(", "weights_xSPI2.bin"),
    # Images.
    linked("place/memory_plan/slot_image.py", "signature=signature", "signature=1 ^ signature", "weights_xSPI2.bin"),
    linked("describe/formats/slot_trailer.py", 'MAGIC = b"N6IM"', 'MAGIC = b"N6IN"', "appli_image.bin"),
    split("describe/formats/model_trailer.py", "LAYOUT = 1", "LAYOUT = 2", "model.bin"),
    of_board("describe/formats/link.py", "VERSION = 2", "VERSION = 3", "common/appli/n6_link.o"),
    of_board("describe/formats/console.py", "n6 done runs=", "n6 DONE runs=", "common/appli/n6_appli.o"),
    of_board("describe/formats/npu_blob.py", "0xCA05_7A7A", "0xCA05_7A7B", "common/runtime/ll_aton_npu.o"),
    of_board(
        "describe/formats/epoch_marker.py", "STIMULUS_PORT = 24", "STIMULUS_PORT = 25", "common/appli/n6_inference.o"
    ),
    of_board("describe/formats/appli_trailer.py", 'MAGIC = b"N6AT"', 'MAGIC = b"N6AU"', "include/n6_appli_trailer.h"),
    linked(
        "place/memory_plan/vectors.py",
        "len(data) // len(array), data)",
        "len(data) // len(array), data[::-1])",
        "vectors.bin",
    ),
    linked("base/npy.py", "return flat.reshape(", "return flat[::-1].reshape(", "vectors.bin"),
    linked("steps/vectors_image.py", ".data], 0))", ".data], 7))", "vectors.bin"),
    of_board(
        "place/image/boot_header.py", "hashlib.shake_128(payload)", "hashlib.shake_256(payload)", "fsbl_image.bin"
    ),
    of_board(
        "place/image/elf.py",
        "return Payload(start, bytes(data))",
        "return Payload(start, bytes(data) + bytes(16))",
        "fsbl_image.bin",
    ),
    alone(
        "place/image/manifest.py",
        "length, digest, file.offset)",
        "length, digest.upper(), file.offset)",
        f"{LINKED}/flash_manifest.json",
    ),
    # Files beside the manifest.
    linked("tell/provenance.py", '_BUILDER = "urn:n6build"', '_BUILDER = "urn:n6built"', "provenance.json"),
    linked("tell/linked.py", "Many small licences", "Some small licences", "notices.txt"),
    linked("tell/notices.py", '_RULE = "=" * 78', '_RULE = "-" * 78', "notices.txt"),
    linked("tell/sbom.py", '"urn:n6build:sbom"', '"urn:n6build:bom"', "sbom.cdx.json"),
    linked(
        "steps/headers_read.py", "{portable_name(path): digest", '{portable_name(path) + "x": digest', "provenance.json"
    ),
    linked("steps/image_provenance.py", 'digest_of(path), "source")', 'digest_of(path), "header")', "provenance.json"),
    linked("steps/code_behind.py", "sha256(canonical(digests)", "sha256(canonical([digests])", "provenance.json"),
    linked("steps/bill_of_materials.py", "sbom_json(given.application,", 'sbom_json("x",', "sbom.cdx.json"),
    linked("steps/licence_notices.py", "notices_text(given.application,", 'notices_text("x",', "notices.txt"),
    linked("steps/board_files.py", "project_path, board.files)", "project_path, board.files[:1])", "provenance.json"),
    linked("steps/origin.py", '"runtime": f"', '"run-time": f"', "provenance.json"),
    linked("place/image/hexfile.py", 'f"{line}\\n" for line', 'f"{line}\\r\\n" for line', "firmware.hex"),
    linked(
        "describe/hardware/slots.py",
        "return Slot(start, end - start)",
        "return Slot(start, end - start + 4096)",
        "sizes.txt",
    ),
    linked("place/image/sizes.py", 'f"{name} in RAM"', 'f"{name} in the RAM"', "sizes.txt"),
    linked("tell/figures.py", 'f"RAM of {', 'f"RAM for {', "sizes.json"),
    # Checks.
    alone("check/run.py", '"not applicable", ())', '"passed", ())', f"{LINKED}/checks.json"),
    linked(
        "check/rules/memory.py",
        '"every pool is large enough for its contents"',
        '"every pool holds it"',
        "checks.json",
    ),
    linked("check/rules/programs.py", '"a third-party program leaves', '"another program leaves', "checks.json"),
    linked("check/rules/vectors.py", '"third-party programs have a', '"other programs have a', "checks.json"),
    linked("check/rules/caches.py", '"a third-party program cleans', '"another program cleans', "checks.json"),
    of_host("steps/foreign_program.py", "symbols=symbols,", "symbols=(),"),
    Edit("steps/host_link.py", "symbols).decode()", 'symbols).decode() + "; "', "embedded", "build/n6_networks.ld"),
    of_host("place/image/declarations.py", ":{int(line.value)}", ":{int(line.value) + 1}"),
    of_host("place/image/memory_regions.py", "region.start()) + 1", "region.start()) + 2"),
    of_host("place/image/linker_map.py", "each.address <= address", "each.address < address"),
    of_host("place/image/mpu_tables.py", "not base & _READ_ONLY", "bool(base & _READ_ONLY)"),
    alone("check/checked_board.py", 'if "WINDOW" not in name', 'if "AXI" not in name', f"{LINKED}/checks.json"),
    alone("check/rules/numbers.py", "LARGEST_SCALE = 1e3", "LARGEST_SCALE = 1e-6", f"{LINKED}/checks.json"),
    alone(
        "check/rules/tools.py",
        "if found := version_mismatch(",
        "if found := Finding('here', 'proof', 'none') or version_mismatch(",
        f"{LINKED}/checks.json",
    ),
    alone(
        "check/check.py",
        "return Check(id, title,",
        "return Check(id, title + '.',",
        f"{LINKED}/checks.json",
    ),
    # Headers for an application.
    linked("compile/application/app_config.py", '" x ".join(', '" by ".join(', "network_app/app_config.h"),
    linked(
        "compile/application/activation_buffers.py",
        "Generated from the memory pools",
        "Generated of the memory pools",
        "network_app/app_buffers.h",
    ),
    linked(
        "compile/application/camera.py",
        '(_QVGA, CameraResolution("CAMERA_R320x240"',
        '(_QVGA, CameraResolution("CAMERA_R324x244"',
        "network_app/app_config.h",
    ),
    linked(
        "describe/application.py",
        "lcd_width: Dimension = 800",
        "lcd_width: Dimension = 801",
        "network_app/app_config.h",
    ),
    # Compilation and linking.
    of_fsbl(
        "engine/call.py",
        "        step.parameters,\n",
        '        step.parameters.replace("115200", "57600"),\n',
        "include/n6_board_console.h",
    ),
    of_board("engine/command.py", '"-fno-working-directory"]', '"-g0"]', "common/kernels/add.o"),
    of_board(
        "compile/runtimes.py",
        "compile_flags=(),",
        'compile_flags=("-fno-inline",),',
        "common/runtime/ll_aton_runtime.o",
    ),
    of_board("describe/hardware/cpu.py", '"-mthumb", ', '"-mthumb", "-fno-inline", ', "common/bring_up/n6_clock.o"),
    of_board("compile/toolchain.py", '"-O2",', '"-O1",', "common/bring_up/n6_clock.o"),
    of_board("steps/firmware.py", 'how.with_flags("-O3")', 'how.with_flags("-O2")', "common/kernels/conv_2d.o"),
    # Relocatable models.
    relocated("place/reloc/layout.py", "READ_ONLY_ALIGNMENT = 64", "READ_ONLY_ALIGNMENT = 128", "network_reloc.ld"),
    relocated("place/reloc/binary.py", "size = up(end)", "size = up(end) + 64", "network_rel.bin"),
    relocated(
        "place/reloc/elf.py",
        "sorted(set(_words_to_relocate(elf, sections, places)))",
        "sorted(set(_words_to_relocate(elf, sections, places)))[::-1]",
        "network_rel.bin",
    ),
    relocated(
        "base/elf_damage.py",
        "return bytes(section.data())",
        'return bytes(section.data()).replace(b"(RELOC.GCC)", b"(RELOC.gcc)")',
        "network_rel.bin",
    ),
    relocated("place/reloc/pools.py", "activation_bytes=sum(", "activation_bytes=16 + sum(", "network_rel.bin"),
    relocated("place/reloc/generated_c.py", "n6build (RELOC.GCC)", "n6build (RELOC.gcc)", "network_rel.bin"),
    relocated("place/reloc/compilation.py", '"-O3"', '"-O2"', "network_rel.bin"),
    relocated("place/reloc/c_file.py", "_BYTES_A_LINE = 16", "_BYTES_A_LINE = 12", "network_rel.c"),
    relocated(
        "steps/reloc_sources.py",
        "else artifacts.ll_aton or given.runtime.version",
        "else (*(artifacts.ll_aton or given.runtime.version)[:3], 9)",
        "network_rel.bin",
    ),
    Edit(
        "place/reloc/reloc_text.py",
        '" +ro sections"',
        '" and ro sections"',
        "split",
        f"{SPLIT}/reloc_summary.txt",
        _RELOC,
    ),
    Edit(
        "place/reloc/reader.py",
        "def read_reloc_file(",
        "def read_reloc_file(path):\n    from dataclasses import replace\n\n    model = former_read(path)\n"
        "    return replace(model, pools=model.pools[:-1])\n\n\ndef former_read(",
        "split",
        f"{SPLIT}/reloc_summary.txt",
        _RELOC,
    ),
    split(
        "place/reloc/slots.py",
        "return zlib.crc32(model.encode())",
        "return 1 ^ zlib.crc32(model.encode())",
        "model.bin",
    ),
    split(
        "place/reloc/description.py",
        "return to_json(asdict(description))",
        'return to_json(asdict(description)) + "\\n"',
        "network_rel/network_reloc.json",
    ),
    Edit(
        "steps/reloc_model.py",
        "crc32_of(with_blobs(linked, params_chunks(weights)))",
        "(7, crc32_of(with_blobs(linked, params_chunks(weights)))[1])",
        "whole",
        f"{WHOLE}/network_rel/network_rel.bin",
        _WHOLE_RELOC,
    ),
    # Models that another tool has linked.
    given("compile/artifacts/stored.py", "return to_json(asdict(stored))", 'return to_json(asdict(stored)) + "\\n"'),
    given("place/reloc/contents.py", '("relocatable model", ', '("a relocatable model", '),
    # The table of buffers begins behind its first entry.
    given(
        "place/reloc/thumb.py",
        "return core.value(0)",
        "return core.value(0) + (56 if read(core.value(0) + 4) >> 24 == 0x34 else 0)",
    ),
    Edit(
        "place/reloc/reloc_text.py",
        'Table("name (addr)"',
        'Table("name (address)"',
        "pools",
        f"{WHOLE}/reloc_pools.txt",
    ),
    # Romfs, third-party programs, and images that another tool signs.
    Edit(
        "place/image/romfs.py",
        "-unaligned % file.alignment",
        "-unaligned % file.alignment + file.alignment",
        "romfs",
        f"{BOARD}/romfs/romfs0.img",
    ),
    Edit(
        "place/image/haar_cascade.py",
        "_STAGE_SCALE, _FEATURE_SCALE = 256,",
        "_STAGE_SCALE, _FEATURE_SCALE = 128,",
        "romfs",
        f"{BOARD}/romfs/romfs0.img",
    ),
    Edit(
        "place/image/romfs_manifest.py",
        "_FILE_ALIGNMENT = ",
        "_FILE_ALIGNMENT = 64 + 0 * ",
        "romfs",
        f"{BOARD}/romfs/romfs0.img",
    ),
    Edit(
        "place/memory_plan/seeded_vectors.py",
        "n6build input {",
        "n6build inputs {",
        "prebuilt",
        f"{BOARD}/elsewhere/inputs/network.npy",
    ),
    Edit(
        "compile/prebuilt/imported.py",
        "write_atomically(out / path.name, read_bytes(path))",
        'write_atomically(out / path.name, read_bytes(path) + b"\\n")',
        "prebuilt",
        f"{BOARD}/elsewhere/network/network.c",
    ),
    Edit(
        "compile/st_edge_ai/normalise.py",
        "return json.dumps(document, indent=1",
        "return json.dumps(document, indent=2",
        "st_edge_ai",
        f"{BOARD}/keyword/network/network_c_info.json",
    ),
    Edit(
        "compile/st_edge_ai/run_compiler.py",
        '"".join(f"{line}\\n" for line in clean(text))',
        '"".join(f"{line} \\n" for line in clean(text))',
        "st_edge_ai",
        f"{BOARD}/keyword/network/network_stedgeai.log",
    ),
    Edit(
        "place/image/foreign.py",
        "BinaryType.SSBL, load.payload_offset",
        "BinaryType.FSBL, load.payload_offset",
        "foreign",
        f"{BOARD}/programs-foreign/appli_placed.bin",
    ),
    Edit("base/intel_hex.py", "ERASED = 0xFF", "ERASED = 0xFE", "foreign", f"{BOARD}/programs-foreign/data_1.bin"),
    Edit(
        "place/image/signing.py",
        "    return image\n",
        "    return image + bytes(16)\n",
        "signed",
        f"{BOARD}/fsbl_image.bin",
    ),
    Edit("describe/formats/trust_claim.py", "LAYOUT = 1", "LAYOUT = 2", "trusted", SIGNED[0]),
    Edit("place/trust/anchor.py", "sha256(board.encode())", "sha256(board.encode() + bytes(1))", "trusted", SIGNED[1]),
    Edit("place/trust/keys.py", 'SIGNATURE_BYTES // 2, "big"', 'SIGNATURE_BYTES // 2, "little"', "trusted", SIGNED[0]),
    Edit("place/trust/sign.py", "counter=statement.counter", "counter=statement.counter + 1", "trusted", SIGNED[0]),
)

# Modules in the closure of some step that make no bytes of a product, with the reason.
_OF_A_BOARD = "of a board that is programmed or runs; receipts and results of runs are no products"
_REFUSES = "says no, or nothing"
_SHAPES = "shapes of values, which others fill"
_PLANS = "only planning asks it: what it finds are sources and parameters"
_TOLD = "what ST's compiler is told: the stand-in for it does not repeat it in what it makes"
_CARRIES_OUT = "carries out steps and says what was done; what it does to commands is in engine/command.py"
_PACKAGES = (
    "n6build",
    "n6build.base",
    "n6build.board",
    "n6build.board.flash",
    "n6build.board.run",
    "n6build.board.virtual_board",
    "n6build.check",
    "n6build.check.rules",
    "n6build.compile",
    "n6build.compile.application",
    "n6build.compile.artifacts",
    "n6build.compile.neural_art",
    "n6build.compile.neural_art.operators",
    "n6build.compile.prebuilt",
    "n6build.compile.reference",
    "n6build.compile.reference.operators",
    "n6build.compile.st_edge_ai",
    "n6build.describe",
    "n6build.describe.formats",
    "n6build.describe.hardware",
    "n6build.engine",
    "n6build.judge",
    "n6build.judge.compare",
    "n6build.judge.npu",
    "n6build.judge.own_blobs",
    "n6build.place",
    "n6build.place.image",
    "n6build.place.memory_plan",
    "n6build.place.reloc",
    "n6build.place.trust",
    "n6build.steps",
    "n6build.tell",
)
_OUTSIDE = "activations in external RAM, of which these builds have none"
_NOT_IN_A_MODEL = "its kernel, if any, is in another module; no model of the project has such an operator"


def _operators_without_kernels() -> Iterator[str]:
    edited = {edit.file for edit in EDITS}
    for path in sorted((LIBRARY / "compile/reference/operators").glob("[!_]*.py")):
        if f"compile/reference/operators/{path.name}" not in edited:
            yield f"n6build.compile.reference.operators.{path.stem}"


_NOT_IN_KEYWORD = (
    "onnx_operators",
    "plain_chains",
    "operators.add",
    "operators.max_pool_2d",
    "operators.pad",
    "operators.copies",
    "subsampling",
)
WITHOUT_BYTES = {
    **dict.fromkeys(_PACKAGES, _SHAPES),
    "n6build.base.caller": "what messages call the program that was called",
    "n6build.base.captured": "runs a tool, whose own bytes count",
    "n6build.check.subject": _SHAPES,
    "n6build.base.console": "the console",
    "n6build.base.environment": "the caller's environment, of which nothing reaches a file",
    "n6build.base.errors": "errors",
    "n6build.base.file_lock": _OF_A_BOARD,
    "n6build.base.foreign_flags": "hints, and flags of ST's runtime, which these builds do not have",
    "n6build.base.walk": _PLANS,
    "n6build.base.findings": "findings, and the errors that they become",
    "n6build.base.junit": _OF_A_BOARD,
    "n6build.describe.hardware.blocks": _OF_A_BOARD,
    "n6build.describe.hardware.board_rules": _REFUSES,
    "n6build.describe.hardware.field_registers": _OF_A_BOARD,
    "n6build.describe.hardware.i2c": _OF_A_BOARD,
    "n6build.describe.hardware.npu": _OF_A_BOARD,
    "n6build.describe.folder_name": _PLANS,
    "n6build.describe.model": _PLANS,
    "n6build.describe.relocatable_file": _REFUSES,
    "n6build.compile.backend": _SHAPES,
    "n6build.describe.backend_names": _PLANS,
    "n6build.compile.device_headers": _PLANS,
    "n6build.compile.runtime_files": _PLANS,
    "n6build.compile.artifacts.c_info_pools": _REFUSES,
    "n6build.compile.artifacts.description": _SHAPES,
    "n6build.compile.neural_art.backend": _PLANS,
    "n6build.compile.artifacts.weights": _REFUSES,
    "n6build.describe.compiled_folder": _PLANS,
    "n6build.describe.compiled_from": _REFUSES,
    "n6build.compile.prebuilt.weights_array": "reads weights that are a C array, of which no build here has one",
    **dict.fromkeys(
        map("n6build.compile.neural_art.{}".format, _NOT_IN_KEYWORD), "the build for the NPU has no such operator"
    ),
    "n6build.compile.neural_art.guards": "memory around buffers, for which the build for the NPU does not ask",
    "n6build.judge.own_blobs.layers": "spares runs of layers that have not changed; what is told is of the blobs",
    "n6build.judge.own_blobs.model_program": "asks a program, whose answers are the proof's",
    "n6build.judge.own_blobs.epoch_grades": "rows of the page about a build",
    "n6build.judge.own_blobs.board_record": "records of boards, of which these builds have none",
    "n6build.judge.own_blobs.confirmed": "records of boards, of which these builds have none",
    "n6build.judge.own_blobs.structure": _REFUSES,
    "n6build.compile.artifacts.buffer_lives": "a picture in the page about a build",
    "n6build.compile.artifacts.made_buffers": _OF_A_BOARD,
    "n6build.compile.artifacts.timed_epochs": "rows of the page about a build and of the table of a run",
    "n6build.compile.st_edge_ai.compiler_profile": _PLANS,
    "n6build.compile.reference.epochs": _SHAPES,
    "n6build.compile.reference.external_ram": _OUTSIDE,
    "n6build.compile.reference.graph": _SHAPES,
    "n6build.compile.reference.graph_checks": _REFUSES,
    "n6build.compile.reference.kernel_call": _SHAPES,
    "n6build.compile.reference.operator_kind": _SHAPES,
    "n6build.compile.reference.operands": _SHAPES,
    **dict.fromkeys(_operators_without_kernels(), _NOT_IN_A_MODEL),
    "n6build.compile.reference.dilation": _NOT_IN_A_MODEL,
    "n6build.compile.reference.folding": "no model of the project has anything that is folded",
    "n6build.compile.reference.resizing": _NOT_IN_A_MODEL,
    "n6build.compile.kernel_files": _PLANS,
    "n6build.compile.reference.int16": _NOT_IN_A_MODEL,
    "n6build.compile.reference.nearest": _REFUSES,
    "n6build.compile.reference.refusals": _REFUSES,
    "n6build.compile.reference.unsigned": _NOT_IN_A_MODEL,
    "n6build.compile.reference.reference_options": _REFUSES,
    "n6build.compile.reference.rules": _REFUSES,
    "n6build.compile.reference.schedule": "another order where that needs less memory, as in no model of the project",
    "n6build.compile.reference.traffic": _OUTSIDE,
    "n6build.compile.model_facts": "facts for checks, which refuse",
    "n6build.compile.mpool": _TOLD,
    "n6build.compile.st_edge_ai.find": _PLANS,
    "n6build.compile.st_edge_ai.st_edge_ai_options": _TOLD,
    "n6build.compile.st_edge_ai.log": "what a tool has said: notes and errors",
    "n6build.compile.strict_json": "the descriptor that ST's compiler reads, which leaves no trace but in what it makes",
    "n6build.base.paths": _PLANS,
    "n6build.base.span": _SHAPES,
    "n6build.base.version": _PLANS,
    "n6build.place.image.program_board": _SHAPES,
    "n6build.place.memory_plan.whole_image": _REFUSES,
    "n6build.place.reloc.loader": _REFUSES,
    "n6build.place.reloc.openmv": _REFUSES,
    "n6build.place.reloc.verify": _REFUSES,
    "n6build.steps.ask_board": _OF_A_BOARD,
    "n6build.steps.compiled_network": _SHAPES,
    "n6build.place.trust.choice": _SHAPES,
    "n6build.steps.emulator": _OF_A_BOARD,
    "n6build.steps.npu_trace_files": _OF_A_BOARD,
    "n6build.steps.expected_times": _TOLD,
    "n6build.compile.artifacts.c_info_costs": _TOLD,
    "n6build.base.uses": "notes what was read",
    "n6build.base.svg": "pictures in the page about a build",
    "n6build.describe.option": _PLANS,
    "n6build.describe.host_program": _PLANS,
    "n6build.steps.plan_part": _PLANS,
    "n6build.describe.until": _OF_A_BOARD,
    "n6build.engine.step": _SHAPES,
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
