/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names of the units, and short descriptions of a unit's configuration, in the field's terms.
 */
#include "n6virt_npu_model.h"

#include <stdio.h>

#define UNIT(name, first, count, version, clock, bit) {name, first, count},
static const struct {
    const char *name;
    uint32_t first, count;
} kinds[] = {N6VIRT_NPU_UNITS(UNIT)};

static const char *names[UNITS];
static char name_texts[UNITS][16];

const char *n6npu_unit_name(unsigned unit)
{
    if (unit >= UNITS) {
        return "a unit that does not exist";
    }
    for (unsigned i = 0; !names[unit] && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (unit - kinds[i].first < kinds[i].count) {
            if (kinds[i].count > 1) {
                snprintf(name_texts[unit], sizeof(name_texts[unit]), "%s%u", kinds[i].name, unit - kinds[i].first);
            } else {
                snprintf(name_texts[unit], sizeof(name_texts[unit]), "%s", kinds[i].name);
            }
            names[unit] = name_texts[unit];
        }
    }
    return names[unit] ? names[unit] : "a unit that does not exist";
}

/* Return a field's number; 0 stands for one more than its largest value. */
static uint32_t or_full(uint32_t value, uint32_t full)
{
    return value ? value : full;
}

static void describe_engine(const N6Npu *npu, unsigned unit, char *text, size_t bytes)
{
    const char *does = FIELD(npu, unit, STRENG, CTRL, DIR) ? "writes" : "reads";
    unsigned lanes = !!FIELD(npu, unit, STRENG, CTRL, SIZE0) + !!FIELD(npu, unit, STRENG, CTRL, SIZE1) +
                     !!FIELD(npu, unit, STRENG, CTRL, SIZE2);

    if (FIELD(npu, unit, STRENG, CTRL, RAW)) {
        snprintf(text, bytes, "%s %u of %u bits", does, reg(npu, unit, NPU_STRENG_FSIZE), 8 * lanes);
    } else {
        snprintf(text, bytes, "%s %ux%ux%u of %u bits", does, FIELD(npu, unit, STRENG, FSIZE, HEIGHT),
                 FIELD(npu, unit, STRENG, FSIZE, WIDTH), FIELD(npu, unit, STRENG, DEPTH, SIZE), 8 * lanes);
    }
}

static void describe_convacc(const N6Npu *npu, unsigned unit, char *text, size_t bytes)
{
    snprintf(text, bytes, "%ux%u stride %ux%u, %u kernels of %u%s%s%s", FIELD(npu, unit, CONVACC, KFORMAT, HEIGHT),
             FIELD(npu, unit, CONVACC, KFORMAT, WIDTH), FIELD(npu, unit, CONVACC, SAMPLE, VSTRD),
             FIELD(npu, unit, CONVACC, SAMPLE, HSTRD), or_full(FIELD(npu, unit, CONVACC, KFORMAT, NR), 256),
             or_full(FIELD(npu, unit, CONVACC, KFORMAT, BTCDEPTH), 256), FIELD(npu, unit, CONVACC, CTRL, DEEPMODE) ? ", deep" : "",
             FIELD(npu, unit, CONVACC, CTRL, DSS2MODE) ? ", DSS2" : "", FIELD(npu, unit, CONVACC, CTRL, NOSUM) ? "" : ", adds to sums");
}

static void describe_arith(const N6Npu *npu, unsigned unit, char *text, size_t bytes)
{
    static const struct {
        uint32_t operation;
        const char *name;
    } names[] = {{0, "a x + b y + c"}, {1, "minimum"}, {2, "maximum"}, {7, "product"}, {55, "clip"}};
    const char *name = "an operation that is not modelled";
    bool varies = FIELD(npu, unit, ARITH, CTRL, COEFFA) || FIELD(npu, unit, ARITH, CTRL, COEFFB) || FIELD(npu, unit, ARITH, CTRL, COEFFC);

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        name = names[i].operation == FIELD(npu, unit, ARITH, CTRL, OP) ? names[i].name : name;
    }
    if (FIELD(npu, unit, ARITH, CTRL, OP) == 0 && !FIELD(npu, unit, ARITH, CTRL, DUALIN)) {
        name = "a x + c";
    }
    snprintf(text, bytes, "%s%s", name, varies ? ", coefficients from memory" : "");
}

static void describe_pool(const N6Npu *npu, unsigned unit, char *text, size_t bytes)
{
    static const char *const names[] = {"max", "min", "average"};
    uint32_t type = FIELD(npu, unit, POOL, CTRL, TYPE);

    if ((type & 7) > 2) {
        snprintf(text, bytes, "type %u", type);
    } else if (type & 8) {
        snprintf(text, bytes, "global %s", names[type & 7]);
    } else {
        snprintf(text, bytes, "%s %ux%u stride %ux%u", names[type], FIELD(npu, unit, POOL, PDIMS, WINY),
                 FIELD(npu, unit, POOL, PDIMS, WINX), FIELD(npu, unit, POOL, PDIMS, STRDY), FIELD(npu, unit, POOL, PDIMS, STRDX));
    }
}

static void describe_activ(const N6Npu *npu, unsigned unit, char *text, size_t bytes)
{
    static const char *const names[] = {"ReLU", "PReLU", "TReLU", "function by table"};

    snprintf(text, bytes, "%s", names[FIELD(npu, unit, ACTIV, CTRL, TYPE)]);
}

void n6npu_describe(const N6Npu *npu, unsigned unit, char *text, size_t bytes)
{
    static const struct {
        unsigned first, count;
        void (*describe)(const N6Npu *npu, unsigned unit, char *text, size_t bytes);
    } describers[] = {
        {STRENG, ENGINES, describe_engine}, {CONVACC, CONVACCS, describe_convacc}, {ACTIV, ACTIVS, describe_activ},
        {ARITH, ARITHS, describe_arith},    {POOL, POOLS, describe_pool},
    };

    text[0] = '\0';
    for (unsigned i = 0; i < sizeof(describers) / sizeof(describers[0]); i++) {
        if (unit - describers[i].first < describers[i].count) {
            describers[i].describe(npu, unit, text, bytes);
        }
    }
}
