"""The releases of QEMU that the machine is built on: how each is configured, and what is changed in its own files.

Which of them a computer takes is its distribution's choice, whose source package it is. tools/virtual_board/n6virt_qemu.h has
what they name differently in C.
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
# A debugger and semihosting look up addresses of a secure Cortex-M as non-secure ones in 7.2.0 and find nothing there.
_SECURE_DEBUG = (
    "target/arm/ptw.c",
    "        .in_secure = arm_is_secure(env),\n        .in_debug = true,\n",
    "        .in_secure = arm_feature(env, ARM_FEATURE_M) ? env->v7m.secure : arm_is_secure(env),\n"
    "        .in_debug = true,\n",
)
# CSEL and its kin, with the register that is always 0, write to the translator's constant 0 in 7.2.0: what follows in the same
# block computes with another number. Later releases have this mended.
_CONDITIONAL_SELECT = tuple(
    (
        "target/arm/translate.c",
        f"        {operand} = zero;\n",
        f"        {operand} = tcg_temp_new_i32();\n        tcg_gen_movi_i32({operand}, 0);\n",
    )
    for operand in ("rn", "rm")
)
# Instructions come from memory, not from the data cache: the machine says where the bytes are, and hears what was read.
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
_CACHES = (
    # Whole vectors at once.
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
# Helium code is slower there: its vectors are loaded by elements.
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
    """version: with which the source package's begins. distribution: ID and VERSION_ID of its os-release. edits: file of QEMU's
    tree, text that occurs in it once, its replacement. names_meson: whether configure is told where meson is; it looks for it
    beside the interpreter otherwise."""

    version: str
    distribution: tuple[str, str]
    configure: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...]
    names_meson: bool


RELEASES = (
    Release(
        "7.2", ("debian", "12"), _CONFIGURE, (*_EDITS, _SECURE_DEBUG, *_CONDITIONAL_SELECT, *_CACHES), names_meson=True
    ),
    # Without --disable-download its configure asks a package registry for what it lacks.
    Release("10.0", ("debian", "13"), (*_CONFIGURE, "--disable-download"), (*_EDITS, *_CACHES_10_0), names_meson=False),
)


def release_here() -> Release:
    """The distribution's; the oldest where the distribution is another one, whose package sources may have it all the same.
    N6BUILD_QEMU names another. Raises N6-VB-008 if it names none."""
    wanted = qemu_wanted()
    if wanted:
        named = next((release for release in RELEASES if release.version == wanted), None)
        if named is None:
            known = ", ".join(release.version for release in RELEASES)
            raise N6Error("N6-VB-008", f"{QEMU}={wanted}: the virtual board is not made for it", hint=f"one of {known}")
        return named
    try:
        # Not a file of the project: it says what computer this is.
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    distribution = (system.get("ID"), system.get("VERSION_ID"))
    return next((release for release in RELEASES if release.distribution == distribution), RELEASES[0])
