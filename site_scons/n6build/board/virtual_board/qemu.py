"""Releases of QEMU for the machine, with their configuration and edits.

The distribution decides the release, since the source package is its own.
tools/virtual_board/n6virt_qemu.h has the differences between releases in C.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass

from n6build.base.environment import QEMU, qemu_wanted
from n6build.base.errors import N6Error

_FIND_MACHINE = (
    "run_command('sh', '-c', 'cd \"$0\" && ls stm32n6virt.c n6virt_*.c', meson.current_source_dir(), check: true)"
)
_EDITS = (
    ("hw/arm/Kconfig", "config ARM_VIRT\n", "config STM32N6VIRT\n    bool\n    select ARM_V7M\n\nconfig ARM_VIRT\n"),
    (
        "hw/arm/meson.build",
        "arm_ss = ss.source_set()\n",
        "arm_ss = ss.source_set()\n"
        f"arm_ss.add(when: 'CONFIG_STM32N6VIRT', if_true: files({_FIND_MACHINE}.stdout().split()))\n",
    ),
)
# In 7.2.0, a debugger and semihosting look up addresses of a secure Cortex-M as non-secure ones and find no memory there.
_SECURE_DEBUG = (
    "target/arm/ptw.c",
    "        .in_secure = arm_is_secure(env),\n        .in_debug = true,\n",
    "        .in_secure = arm_feature(env, ARM_FEATURE_M) ? env->v7m.secure : arm_is_secure(env),\n"
    "        .in_debug = true,\n",
)
# In 7.2.0, CSEL and similar instructions with the zero register write to the translator's constant 0: later instructions of the
# same block compute with another number. Later releases are correct.
_CONDITIONAL_SELECT = tuple(
    (
        "target/arm/translate.c",
        f"        {operand} = zero;\n",
        f"        {operand} = tcg_temp_new_i32();\n        tcg_gen_movi_i32({operand}, 0);\n",
    )
    for operand in ("rn", "rm")
)
# Instructions come from memory, not from the data cache: these hooks ask the machine for the bytes and report the read.
_HOOKS = "void *(*n6virt_fetch)(void *host);\nvoid (*n6virt_fetched)(uint32_t pc, uint32_t bytes);\n\n"
_FIRST_PAGE = (
    "accel/tcg/translator.c",
    "    db->host_addr[0] = host_pc;\n",
    "    db->host_addr[0] = n6virt_fetch && host_pc ? n6virt_fetch(host_pc) : host_pc;\n",
)
_BLOCK = (
    "accel/tcg/translator.c",
    "    tb->icount = db->num_insns;\n",
    "    tb->icount = db->num_insns;\n"
    "    if (n6virt_fetched) {\n"
    "        n6virt_fetched(db->pc_first, tb->size);\n"
    "    }\n",
)
# In 7.2.0, an instruction that begins in memory and ends in registers aborts the emulator. Later releases translate it once.
_CODE_INTO_REGISTERS = (
    "accel/tcg/translator.c",
    "            assert(phys_page != -1);\n",
    "            if (phys_page == -1) {\n"
    "                tb_set_page_addr0(tb, -1);\n"
    "                return NULL;\n"
    "            }\n",
)
_CACHES = (
    # Whole vectors are loaded and stored at once, not element by element.
    (
        "target/arm/mve_helper.c",
        "DO_VLDR(vldrb, 1, ldub, 1, uint8_t)\n",
        '#include "../../hw/arm/n6virt_mve.h"\n\nDO_VLDR(vldrb, 1, ldub, 1, uint8_t)\n',
    ),
    (
        "accel/tcg/translator.c",
        "void translator_loop(CPUState *cpu, TranslationBlock *tb, int max_insns,\n",
        f"{_HOOKS}void translator_loop(CPUState *cpu, TranslationBlock *tb, int max_insns,\n",
    ),
    _FIRST_PAGE,
    (
        "accel/tcg/translator.c",
        "            page_protect(end);\n#endif\n            host = db->host_addr[1];\n",
        "            page_protect(end);\n#endif\n"
        "            if (n6virt_fetch && db->host_addr[1]) {\n"
        "                db->host_addr[1] = n6virt_fetch(db->host_addr[1]);\n"
        "            }\n"
        "            host = db->host_addr[1];\n",
    ),
    _BLOCK,
)
# Helium code is slower in 10.0: its vectors are loaded element by element.
_CACHES_10_0 = (
    (
        "accel/tcg/translator.c",
        "void translator_loop(CPUState *cpu, TranslationBlock *tb, int *max_insns,\n",
        f"{_HOOKS}void translator_loop(CPUState *cpu, TranslationBlock *tb, int *max_insns,\n",
    ),
    _FIRST_PAGE,
    (
        "accel/tcg/translator.c",
        "        new_page1 = get_page_addr_code_hostp(env, base, &db->host_addr[1]);\n",
        "        new_page1 = get_page_addr_code_hostp(env, base, &db->host_addr[1]);\n"
        "        if (n6virt_fetch && db->host_addr[1]) {\n"
        "            db->host_addr[1] = n6virt_fetch(db->host_addr[1]);\n"
        "        }\n",
    ),
    _BLOCK,
)
# An unaligned access to registers is split into aligned ones; this hook sees it before.
# Later releases lack it, so that they split on.
_UNALIGNED = (
    (
        "accel/tcg/cputlb.c",
        "static inline void cpu_unaligned_access(CPUState *cpu, vaddr addr,\n",
        "void (*n6virt_unaligned)(CPUState *cpu, uint64_t address, bool writes, uintptr_t caller);\n\n"
        "static inline void cpu_unaligned_access(CPUState *cpu, vaddr addr,\n",
    ),
    *(
        (
            "accel/tcg/cputlb.c",
            f"        /* For anything that is unaligned, recurse through {way}.  */\n        if ((addr & (size - 1)) != 0) {{\n",
            f"        /* For anything that is unaligned, recurse through {way}.  */\n        if ((addr & (size - 1)) != 0) {{\n"
            "            if (n6virt_unaligned) {\n"
            f"                n6virt_unaligned(env_cpu(env), addr, {writes}, retaddr);\n"
            "            }\n",
        )
        for way, writes in (("full_load", "false"), ("byte stores", "true"))
    ),
)
_EDITS_7_2 = (*_EDITS, *_UNALIGNED, _SECURE_DEBUG, *_CONDITIONAL_SELECT, _CODE_INTO_REGISTERS, *_CACHES)
_CONFIGURE = (
    "--target-list=arm-softmmu",
    "--without-default-features",
    "--without-default-devices",
    "--with-devices-arm=n6",
    "--enable-tcg",
    "--enable-system",
    "--enable-fdt=system",
    "--disable-werror",
)


@dataclass(frozen=True)
class Release:
    """A release of QEMU.

    Attributes:
        version: Beginning of the source package's version.
        distribution: ID and VERSION_ID in os-release.
        configure: Options of configure.
        edits: File of QEMU's tree, text that occurs in it once, and its replacement.
        names_meson: True if configure takes the path of meson; otherwise it looks for meson beside the
            Python interpreter.
    """

    version: str
    distribution: tuple[str, str]
    configure: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...]
    names_meson: bool


RELEASES = (
    Release(
        "7.2",
        ("debian", "12"),
        _CONFIGURE,
        _EDITS_7_2,
        names_meson=True,
    ),
    # Without --disable-download, configure of 10.0 downloads missing packages from a registry.
    Release("10.0", ("debian", "13"), (*_CONFIGURE, "--disable-download"), (*_EDITS, *_CACHES_10_0), names_meson=False),
)


def release_here() -> Release:
    """Return the release of this distribution.

    Other distributions get the oldest release, which their package sources may have. N6BUILD_QEMU names
    another release.

    Raises:
        N6Error: N6-VB-008 if N6BUILD_QEMU names an unknown release.
    """
    wanted = qemu_wanted()
    if wanted:
        named = next((release for release in RELEASES if release.version == wanted), None)
        if named is None:
            known = ", ".join(release.version for release in RELEASES)
            raise N6Error(
                "N6-VB-008", f"{QEMU}={wanted}: the virtual board does not support it", hint=f"use one of {known}"
            )
        return named
    try:
        # os-release is no source of the project: it identifies the computer.
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    distribution = (system.get("ID"), system.get("VERSION_ID"))
    return next((release for release in RELEASES if release.distribution == distribution), RELEASES[0])
