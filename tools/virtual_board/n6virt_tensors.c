/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tensors that are put into memory before an epoch, got from it after one, and then replaced, in the first inference of each
 * network. The file has one line for each:
 *
 *   put NETWORK place|label NUMBER 0xADDRESS BYTES OFFSET       from FILE.in, before the epoch
 *   get NETWORK place|label NUMBER 0xADDRESS BYTES OFFSET       to FILE.out, after it
 *   replace NETWORK place|label NUMBER 0xADDRESS BYTES OFFSET   from FILE.in, after that
 *
 * FILE.done gets the number of each executed line. A place is that of an epoch block, as the program reports it; a label is the
 * number that a blob of that network gives its epochs. Both CPU and NPU see the put bytes, whatever is in the data cache. The
 * got bytes are those that CPU or NPU wrote last.
 *
 *   ,npu-tensors=FILE
 */
#include "n6virt.h"
#include "n6virt_epochs.h"

#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"

#define MOST_LINES 4096u
#define MOST_CHARACTERS 128
#define MOST_BYTES (64u << 20)

typedef enum { PUT, GET, REPLACE, VERBS } Verb;
static const char *const verbs[VERBS] = {"put", "get", "replace"};

typedef struct {
    Verb verb;
    bool by_label, is_done;
    uint32_t network, number, address, bytes;
    uint64_t offset;
} Tensor;

static char *path;
static FILE *given, *taken, *done;
static Tensor *tensors;
static unsigned count;

static void put(const Tensor *tensor)
{
    g_autofree uint8_t *data = g_malloc(tensor->bytes);

    if (fseeko(given, tensor->offset, SEEK_SET) || fread(data, 1, tensor->bytes, given) != tensor->bytes) {
        error_report("File %s.in has no %u bytes at offset %" PRIu64, path, tensor->bytes, tensor->offset);
        exit(1);
    }
    if (!n6virt_put(tensor->address, data, tensor->bytes)) {
        error_report("List %s puts %u bytes at 0x%08x, where no memory is on", path, tensor->bytes, tensor->address);
        exit(1);
    }
}

static void get(const Tensor *tensor)
{
    g_autofree uint8_t *data = g_malloc(tensor->bytes);

    if (!n6virt_latest(tensor->address, data, tensor->bytes)) {
        error_report("List %s gets %u bytes at 0x%08x, where no memory is on", path, tensor->bytes, tensor->address);
        exit(1);
    }
    if (fseeko(taken, tensor->offset, SEEK_SET) || fwrite(data, 1, tensor->bytes, taken) != tensor->bytes) {
        error_report("Cannot write %s.out: %s", path, strerror(errno));
        exit(1);
    }
}

static void exchange(Verb verb, bool by_label, uint32_t network, uint32_t number)
{
    for (unsigned i = 0; i < count; i++) {
        Tensor *tensor = &tensors[i];

        if (!tensor->is_done && tensor->verb == verb && tensor->by_label == by_label && tensor->network == network &&
            tensor->number == number) {
            tensor->is_done = true;
            (verb == GET ? get : put)(tensor);
            fprintf(done, "%u\n", i + 1);
        }
    }
}

void n6virt_tensors_place_begins(const N6VirtPlace *place)
{
    exchange(PUT, false, place->network, place->place);
}

void n6virt_tensors_place_ends(const N6VirtPlace *place)
{
    exchange(GET, false, place->network, place->place);
    exchange(REPLACE, false, place->network, place->place);
}

static void exchange_by_label(Verb verb, const N6VirtPlace *place, const N6NpuEpoch *epoch)
{
    if (epoch->by_blob && place) {
        exchange(verb, true, place->network, epoch->label);
    }
}

void n6virt_tensors_label_begins(const N6VirtPlace *place, const N6NpuEpoch *epoch)
{
    exchange_by_label(PUT, place, epoch);
}

void n6virt_tensors_label_ends(const N6VirtPlace *place, const N6NpuEpoch *epoch)
{
    exchange_by_label(GET, place, epoch);
    exchange_by_label(REPLACE, place, epoch);
}

/* The file */

static G_NORETURN void refuse(unsigned line, const char *why)
{
    error_report("%s:%u: The line %s", path, line, why);
    exit(1);
}

static uint64_t number_in(unsigned line, const char *word, int base, uint64_t most)
{
    const char *digits = base == 16 && g_str_has_prefix(word, "0x") ? word + 2 : word;
    uint64_t value;
    const char *end;

    if (!g_ascii_isxdigit(*digits) || (base == 16 && digits == word) || qemu_strtou64(digits, &end, base, &value) || *end ||
        value > most) {
        refuse(line, "has an invalid number, or one that is too large");
    }
    return value;
}

static Tensor tensor_in(unsigned line, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", 8);
    Tensor tensor = {0};

    if (g_strv_length(words) != 7) {
        refuse(line, "needs seven words: put, get or replace, network, place or label, number, address, bytes, offset");
    }
    while (tensor.verb < VERBS && strcmp(words[0], verbs[tensor.verb])) {
        tensor.verb++;
    }
    tensor.by_label = !strcmp(words[2], "label");
    if (tensor.verb == VERBS || (!tensor.by_label && strcmp(words[2], "place"))) {
        refuse(line, "does not begin with put, get or replace, or has neither place nor label");
    }
    tensor.network = number_in(line, words[1], 10, UINT32_MAX);
    tensor.number = number_in(line, words[3], 10, UINT32_MAX);
    tensor.address = number_in(line, words[4], 16, UINT32_MAX);
    tensor.bytes = number_in(line, words[5], 10, MOST_BYTES);
    tensor.offset = number_in(line, words[6], 10, INT64_MAX - MOST_BYTES);
    if (!tensor.bytes || tensor.address > UINT32_MAX - tensor.bytes) {
        refuse(line, "has no bytes, or goes beyond the last address");
    }
    return tensor;
}

static FILE *open_beside(const char *suffix, const char *mode)
{
    g_autofree char *name = g_strconcat(path, suffix, NULL);

    return n6virt_open(name, mode, "tensors");
}

static void start(void)
{
    FILE *lines = n6virt_open(path, "r", "the list of tensors");
    char text[MOST_CHARACTERS];
    bool reads = false;

    if (!lines) {
        return;
    }
    tensors = g_new0(Tensor, MOST_LINES);
    while (fgets(text, sizeof(text), lines)) {
        if (count == MOST_LINES) {
            refuse(count + 1, "is beyond the limit of 4096 lines");
        }
        if (!g_str_has_suffix(text, "\n")) {
            refuse(count + 1, "is too long, or has no end of line");
        }
        text[strlen(text) - 1] = '\0';
        tensors[count] = tensor_in(count + 1, text);
        reads |= tensors[count++].verb != GET;
    }
    fclose(lines);
    given = reads ? open_beside(".in", "rb") : NULL;
    taken = open_beside(".out", "wb");
    done = open_beside(".done", "w");
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "npu-tensors", &path);
}

static void summarise(GString *summary)
{
    if (taken) {
        fflush(taken);
        fflush(done);
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .summarise = summarise};
N6VIRT_MODULE(module)
