/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Properties of the machine that are kept in variables, and the files that they name.
 */
#include "n6virt.h"

#include "qapi/visitor.h"
#include "qemu/error-report.h"

static void get_text(Object *object, Visitor *visitor, const char *name, void *variable, Error **errp)
{
    visit_type_str(visitor, name, variable, errp);
}

static void set_text(Object *object, Visitor *visitor, const char *name, void *variable, Error **errp)
{
    char **text = variable, *value;

    if (visit_type_str(visitor, name, &value, errp)) {
        g_free(*text);
        *text = value;
    }
}

void n6virt_number_properties(Object *machine, const N6VirtNumber *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        object_property_add_uint32_ptr(machine, numbers[i].name, numbers[i].variable, OBJ_PROP_FLAG_READWRITE);
    }
}

void n6virt_text_property(Object *machine, const char *name, char **variable)
{
    object_property_add(machine, name, "string", get_text, set_text, NULL, variable);
}

static void get_or_set_switch(Object *object, Visitor *visitor, const char *name, void *variable, Error **errp)
{
    visit_type_bool(visitor, name, variable, errp);
}

void n6virt_switch_property(Object *machine, const char *name, bool *variable)
{
    object_property_add(machine, name, "bool", get_or_set_switch, get_or_set_switch, NULL, variable);
}

FILE *n6virt_open(const char *name, const char *mode, const char *what)
{
    FILE *file = name && *name ? fopen(name, mode) : NULL;

    if (name && *name && !file) {
        error_report("Cannot open %s %s: %s", what, name, strerror(errno));
        exit(1);
    }
    return file;
}
