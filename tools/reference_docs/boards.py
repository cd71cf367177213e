"""A page for each board, from its board.yaml and the description of its chip."""

from __future__ import annotations

import re
from pathlib import Path

from n6build.describe.hardware.board import Board, ExternalRam
from n6build.describe.hardware.boards import board_names, load_board

from reference_docs.markdown import code, page, sentence, table, text

_UNSURE = re.compile(r"assum|not documented|not known|INFERRED|a mistake|is not stated", re.IGNORECASE)


def board_pages(root: Path) -> dict[str, str]:
    """Return a page for each board, and their list, by place in the site."""
    boards = [load_board(name, root / "boards") for name in board_names(root / "boards")]
    pages = {f"boards/{board.name}.md": _page(board) for board in boards}
    rows = [
        (
            f"[{board.name}]({board.name}.md)",
            text(board.title),
            f"{_size(board.nor.size)} at {_hz(board.nor_clock_hz)}",
            _size(board.external_ram.size) if board.external_ram else "none",
            ", ".join(map(code, board.profiles())),
        )
        for board in boards
    ]
    said = (
        "`scons boards` prints the same list. For another board, write [a board.yaml](../own-board.md). None of these boards has "
        "been programmed by us: [how sure is it?](../how-sure.md)"
    )
    pages["boards/index.md"] = page("Boards", table(("board", "name", "NOR", "external RAM", "profiles"), rows), said)
    return pages


def _page(board: Board) -> str:
    named = ", ".join(map(code, (board.name, *board.aliases)))
    return page(
        board.title,
        f"`board=` {named}. Chip {code(board.soc.name)}. Described in {code(f'boards/{board.name}/board.yaml')}.",
        "## At a glance",
        table(("what", "value"), _facts(board)),
        "## Boot selectors",
        table(("for", "position"), [
            ("running from flash", text(board.programmer.flash_boot)),
            ("programming", text(board.programmer.dev_boot)),
        ]),
        "After a change of the selectors, switch the power off and on.",
        "## Flash slots",
        table(
            ("slot", "from", "to", "size"),
            [
                (name, code(_address(slot.address)), code(_address(slot.end - 1)), _size(slot.size))
                for name, slot in board.slots.items()
            ],
        ),
        *_external(board.external_ram),
        "## Memories of the chip",
        table(("memory", "from", "size", "after reset", "data cache"), _memories(board)),
        "## Memory pools and profiles",
        "Names are those that `network.pools` in model.yaml and ST's compiler use; the second is in the names of weights files.",
        table(("pool", "file name", "where", "size"), _pools(board)),
        table(
            ("profile", "activations", "weights"),
            [
                (code(name), ", ".join(map(code, board.profile(name).activations)), code(board.profile(name).weights))
                for name in board.profiles()
            ],
        ),
        "## What is assumed",
        "Sentences of the descriptions that mark themselves as uncertain.",
        _assumed(board),
    )  # fmt: skip


def _facts(board: Board) -> list[tuple[str, str]]:
    nor, console = board.nor, board.console
    clock, fastest = board.clock, board.max_speed
    reached = f"{_hz(board.nor_clock_hz)} with this clock profile"
    facts = [
        ("clock profile", f"{code(clock.name)}: CPU {_hz(clock.cpu_hz)}, NPU {_hz(clock.npu_hz)}, AHB {_hz(clock.hclk_hz)}"),
        ("`mode=max-speed`", f"{code(fastest.name)}: CPU {_hz(fastest.cpu_hz)}, NPU {_hz(fastest.npu_hz)}"),
        ("console", f"USART1, TX {console.tx}, RX {console.rx} (AF{console.alternate}), {console.baud:,} baud, 8N1"),
        ("NOR", f"{text(nor.part)} at XSPI2, {_size(nor.size)} from {code(_address(nor.base))}"),
        ("JEDEC id of the NOR", code(f"0x{nor.jedec_id:06X}")),
        ("NOR mode", f"{code(nor.mode)}, at most {_hz(nor.max_clock_hz)}, {reached}"),
        ("NOR sector", f"{_size(nor.sector)}, what one erase covers"),
        ("NOR pins", f"{nor.pins.port} {_lines(nor.pins.lines)}, chip select {nor.pins.chip_select} (AF{nor.pins.alternate})"),
        ("ST's external loader", code(board.programmer.external_loader)),
    ]  # fmt: skip
    if board.smps_overdrive:
        facts.append(("raises the core supply", f"pin {board.smps_overdrive}"))
    facts += [(f"fuse word {fuse.word}", f"{code(_address(fuse.value))} from the factory") for fuse in board.fuses]
    facts += [
        (f"on {device.bus}", f"{text(device.part.name)} at {code(f'0x{device.address:02X}')}") for device in board.i2c
    ]
    return facts


def _external(ram: ExternalRam | None) -> list[str]:
    if ram is None:
        return []
    rows = [
        (name, _size(region.size), _size(region.limit) if region.limit else "") for name, region in ram.regions.items()
    ]
    mapped = "Nothing here says which part it is: only a program of your own can map it."
    if part := ram.psram:
        data = f"data {part.data.port} {_lines(part.data.lines)}"
        control = f"control {part.control.port} {_lines(part.control.lines)}"
        mapped = f"{text(part.part)} at XSPI1, at most {_hz(part.max_clock_hz)}, pads supplied by {part.supply}; "
        mapped += f"{data}; {control}. The Appli maps it where a network uses it."
    said = f"{_size(ram.size)} in {code(ram.memory)}. {mapped} The regions lie one behind the other."
    return ["## External RAM", said, table(("region", "size", "limit"), rows)]


def _memories(board: Board) -> list[tuple[str, ...]]:
    def after_reset(name: str) -> str:
        memory = board.soc.memories[name]
        if memory.power:
            return f"off: {code('RCC MEMENR ' + memory.power.rcc_field)} and {code(memory.power.ramcfg + ' SRAMSD')}"
        if memory.clock and not memory.clock.on_after_reset:
            return f"no clock: {code('RCC MEMENR ' + memory.clock.field)}"
        return "not mapped" if "WINDOW" in name else "on"

    return [
        (
            code(name),
            code(_address(memory.base)),
            _size(memory.size),
            after_reset(name),
            "in front" if memory.cached else "no",
        )
        for name, memory in board.soc.memories.items()
    ]


def _pools(board: Board) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, pool in board.soc.pools.items():
        size = board.pool_sizes.get(name, board.soc.memories[pool.memory].size)
        rows.append((code(name), code(pool.fname), pool.memory, _size(size) if size else "not used on this board"))
    for name, outer in board.pools.items():
        where = f"slot {outer.slot}" if outer.slot else f"external RAM, region {outer.region}"
        rows.append((code(name), code(outer.fname), where, _size(outer.size) if outer.size else "all of it"))
    return rows


def _assumed(board: Board) -> str:
    rows = []
    for file in board.files:
        for key, said in _comments(file.read_text(encoding="utf-8")):
            if _UNSURE.search(said):
                place = "/".join(file.parts[file.parts.index("boards") :])
                rows.append((f"{code(place)} {code(key)}", text(sentence(said))))
    return table(("where", "what"), rows) or "Nothing."


def _comments(yaml: str) -> list[tuple[str, str]]:
    """Return pairs of (the key that follows, the comment)."""
    found: list[tuple[str, str]] = []
    words: list[str] = []
    for line in yaml.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            words.append(stripped.lstrip("# "))
            continue
        if words and stripped:
            found.append((stripped.split(":")[0].strip("- "), " ".join(words)))
        words = []
    return found


def _address(value: int) -> str:
    return f"0x{value:08X}"


def _size(size: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} bytes"


def _hz(hz: int) -> str:
    return f"{hz / 1_000_000:g} MHz"


def _lines(lines: tuple[int, ...]) -> str:
    """Return numbers of lines as ranges, such as 0-6, 8-11."""
    runs: list[list[int]] = []
    for line in sorted(lines):
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
