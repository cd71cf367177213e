"""Fault registers of the processor in words (Armv8-M manual)."""

from __future__ import annotations

from n6build.board.virtual_board.findings_file import State

_EXCEPTIONS = {2: "NMI", 3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault", 7: "SecureFault"}
_STACK_OVERFLOW = 20
_MMFAR_VALID, _BFAR_VALID = 7, 15
_CFSR = {
    0: "the MPU forbids the fetch of an instruction",
    1: "the MPU forbids the access to {mmfar}",
    3: "the MPU forbids a return from an exception to load registers",
    4: "the MPU forbids an exception to save registers",
    5: "the MPU forbids to save FPU registers",
    8: "the fetch of an instruction fails",
    9: "the access to {bfar} fails",
    10: "an earlier write fails",
    11: "registers cannot be loaded at the return from an exception",
    12: "registers cannot be saved for an exception: the stack pointer is not in RAM",
    13: "FPU registers cannot be saved",
    16: "the instruction is undefined",
    17: "the address has no Thumb bit: a jump to data, or a damaged pointer to a function",
    18: "the value of LR or PC is invalid at the return from an exception",
    19: "the coprocessor or FPU is off (CPACR)",
    _STACK_OVERFLOW: "stack overflow: the stack pointer is below its limit",
    24: "an access is not aligned",
    25: "a division by zero",
}
_SFSR = {
    0: "a non-secure program enters secure code not at an SG instruction",
    1: "the integrity signature of an exception's frame is wrong",
    2: "the return from an exception is invalid",
    3: "secure memory is accessed by a non-secure program, at {sfar}",
    4: "a branch from secure to non-secure code is invalid",
    5: "FPU registers cannot be saved for lack of security",
    7: "FPU registers cannot be saved",
}
_VECTOR_TABLE, _FORCED = 1, 30


def exception_name(number: int) -> str:
    """Return the name of an exception."""
    return _EXCEPTIONS.get(number, f"exception {number}")


def is_fault(number: int) -> bool:
    """Return true for an exception that a fault causes."""
    return 3 <= number <= 7


def has_stack_overflow(state: State) -> bool:
    """Return true if the stack pointer was below its limit."""
    return bool(state.faults[0] >> _STACK_OVERFLOW & 1)


def fault_text(state: State) -> str:
    """Return the causes of a fault in words, with its registers."""
    cfsr, hfsr, mmfar, bfar, sfsr, sfar = state.faults
    addresses = {
        "mmfar": f"0x{mmfar:08x}" if cfsr >> _MMFAR_VALID & 1 else "an address",
        "bfar": f"0x{bfar:08x}" if cfsr >> _BFAR_VALID & 1 else "an address",
        "sfar": f"0x{sfar:08x}",
    }
    causes = [text.format(**addresses) for bit, text in _CFSR.items() if cfsr >> bit & 1]
    causes += [text.format(**addresses) for bit, text in _SFSR.items() if sfsr >> bit & 1]
    if hfsr >> _VECTOR_TABLE & 1:
        causes.append("the vector table cannot be read (VTOR)")
    values = {"CFSR": cfsr, "HFSR": hfsr, "SFSR": sfsr}
    shown = ", ".join(f"{name} 0x{value:08x}" for name, value in values.items() if value)
    return f"{'; '.join(causes) or 'no cause is recorded'} ({shown or 'CFSR 0'})"
