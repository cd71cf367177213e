"""The lines that FSBL and Appli print on the console, and that n6build reads."""

from __future__ import annotations

from n6build.base.c_format import Format
from n6build.base.line_format import Line

# Every line of the firmware begins with this; all other text is for people.
PREFIX = "n6 "

FSBL_START = Line("fsbl_start", "n6 fsbl start board={board:word}", "The FSBL runs.")
FSBL_NOR = Line(
    "fsbl_nor",
    "n6 fsbl nor id={id:hex} mode={mode:word} [expected={expected:hex}] clock={clock:number} [slow-pads]",
    "The NOR that answers. `expected`: the board's part, if it is another. `slow-pads`: the fuse for fast pads is not blown.",
)
FSBL_APPLI = Line(
    "fsbl_appli",
    "n6 fsbl appli bytes={bytes:number} entry={entry:hex} [slot={slot:a|b} revision={revision:number}]",
    "The FSBL has loaded the Appli, with the slot if there are two.",
)
FSBL_REFUSED = Line(
    "fsbl_refused",
    "n6 fsbl appli slot={slot:a|b} refused {reason:text}",
    "The FSBL does not start the Appli of a slot.",
)
FSBL_COUNTER = Line(
    "fsbl_counter",
    "n6 fsbl counter {before:number} -> {after:number}",
    "With `trust_advance=blow`, the FSBL has programmed fuses: releases with a lower counter do not start any more.",
)
FSBL_COUNTER_KEPT = Line(
    "fsbl_counter_kept",
    "n6 fsbl counter kept {reason:text}",
    "With `trust_advance=blow`, the chip has not programmed the fuses of the security counter. The release runs.",
)
FSBL_RECOVERY = Line(
    "fsbl_recovery",
    "n6 fsbl recovery waits: {is_held:no valid Appli|pin held}",
    "With `recovery=on`, the FSBL waits for a release on this console.",
)
APPLI_START = Line(
    "appli_start",
    "n6 appli start [loader={loader:word}] [model={model:word}] [epochs={epochs:number}] clock={clock:number}",
    "The Appli runs. `clock`: of the CPU, in Hz; n6build needs it to turn cycles into time.",
)
IMAGE = Line(
    "image",
    "n6 image {pool:word} {is_copied:in-place|copied} bytes={bytes:number} crc={crc:hex} ok",
    "The weights of a memory pool are whole.",
)
PSRAM = Line("psram", "n6 psram id={id:hex} {is_mapped:not mapped|mapped}", "The external RAM that answers.")
MODEL = Line(
    "model",
    "n6 model {name:word} slot={slot:a|b} revision={revision:number} mode={is_xip:copy|xip} at={at:hex} bytes={bytes:number} "
    "ram={ram:hex} used={used:number} epochs={epochs:number} cycles={cycles:number} crc={crc:hex} ok",
    "A relocatable model is installed. n6build reads its name, slot and revision.",
)
MODEL_REFUSED = Line(
    "model_refused",
    "n6 model {name:word} slot={slot:a|b} refused {reason:text}",
    "The Appli does not use the model of a slot.",
)
RUN_BEGIN = Line("run_begin", "n6 run {run:number} begin", "An inference begins; the first one has number 0.")
RUN_EPOCH = Line(
    "run_epoch",
    "n6 run {run:number} epoch {epoch:number} start={start:number} core={core:number} end={end:number}",
    "CPU cycles of an epoch, by its place in the table of epoch blocks, from 1; only of a network's first inference.",
)
RUN_OUTPUT = Line("run_output", "n6 run {run:number} output {output:number} {data:bytes}", "An output, by its index.")
RUN_CLASS = Line(
    "run_class", "n6 run {run:number} class {best:number}", "The index of the first output's largest value."
)
RUN_CYCLES = Line("run_cycles", "n6 run {run:number} cycles={cycles:number}", "CPU cycles of an inference.")
DONE = Line(
    "done", "n6 done runs={runs:number}", "All inferences are done. It ends a run, and begins the answers to requests."
)
ERROR = Line(
    "error",
    "n6 {program:fsbl|appli} error {reason:text}",
    "The program stops: the id of the error, and a text. It ends a run.",
)
BLOB_ERROR = Line(
    "blob_error", "n6 appli error {reason:text} {place:hex} is {value:hex}", "The same, of a register of the NPU."
)
FAULT = Line("fault", "n6 fault {text:text}", "The CPU faulted. It ends a run.", breaks_in=True)
HARD_FAULT = Line(
    "hard_fault",
    "n6 {is_trial:fault|trial fault} HardFault cfsr={cfsr:hex} hfsr={hfsr:hex} mmfar={mmfar:hex} bfar={bfar:hex} "
    "[pc={pc:hex} lr={lr:hex}] [stack=overflow] stage={stage:word}",
    "The registers of a fault. A fault in a trial of new code does not end the run.",
    breaks_in=True,
)
EXCEPTION = Line(
    "exception",
    "n6 {is_trial:fault|trial} exception={number:number} stage={stage:word}",
    "An interrupt without a handler, as a fault.",
    breaks_in=True,
)
TRIAL_BEGIN = Line(
    "trial_begin",
    "n6 trial {name:word} image={image:hex} start={start:number} of={of:number}",
    "A new Appli or model begins a start on trial.",
)
TRIAL_LAST_RESORT = Line(
    "trial_last_resort",
    "n6 trial {name:word} last-resort",
    "The journal allows no Appli or model that is valid, so the newest one starts anyway, with the watchdog.",
)
TRIAL_WATCHDOG = Line(
    "trial_watchdog", "n6 trial watchdog ended the last start", "The last start did not end its trial."
)
TRIAL_TOO_LONG = Line("trial_too_long", "n6 trial takes too long", "A call of new code does not end.", breaks_in=True)
TRIAL_CONFIRMED = Line("trial_confirmed", "n6 trial confirmed", "All images on trial work.")
TRIAL_NOT_CONFIRMED = Line(
    "trial_not_confirmed", "n6 trial not confirmed: {reason:text}", "They work, but the journal cannot be written."
)
FIELD = Line(
    "field",
    "n6 field {moment:entry|fsbl|appli} {name:word} {address:hex} {value:hex} {check:hex}",
    "A register of a field report. `check`: CRC-32 of the name XOR address XOR the inverted value.",
)
FIELD_FAULT = Line(
    "field_fault",
    "n6 field {moment:entry|fsbl|appli} {name:word} {address:hex} fault {check:hex}",
    "A register that cannot be read. `check`: CRC-32 of the name XOR address.",
)

FORMAT = Format(
    "n6_console_lines.h",
    (
        "The lines of the console. N6_LINE(done, .runs = 10) writes one; members that are left out are 0, false or NULL.",
        'Every line that n6build reads begins with "n6 ". Text between them is for people.',
    ),
    lines=(
        *(
            FSBL_START,
            FSBL_NOR,
            FSBL_APPLI,
            FSBL_REFUSED,
            FSBL_COUNTER,
            FSBL_COUNTER_KEPT,
            FSBL_RECOVERY,
            APPLI_START,
            IMAGE,
            PSRAM,
            MODEL,
            MODEL_REFUSED,
        ),
        *(
            RUN_BEGIN,
            RUN_EPOCH,
            RUN_OUTPUT,
            RUN_CLASS,
            RUN_CYCLES,
            DONE,
            ERROR,
            BLOB_ERROR,
            FAULT,
            HARD_FAULT,
            EXCEPTION,
        ),
        *(TRIAL_BEGIN, TRIAL_LAST_RESORT, TRIAL_TOO_LONG, TRIAL_WATCHDOG, TRIAL_CONFIRMED, TRIAL_NOT_CONFIRMED),
        *(FIELD, FIELD_FAULT),
    ),
)
