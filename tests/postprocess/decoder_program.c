/* Decodes outputs by n6_decoder.h, until their end, and writes everything that is found: lines of numbers, each behind its length.
 * The last line of a set of outputs has the length LAST, and is the count of instructions.
 *
 * On a host it reads the standard input and writes to the standard output. On the chip it does so with the files "outputs" and
 * "found", through semihosting. */
#include <stddef.h>
#include <stdint.h>

#include "n6_decoder.h"

#define LAST UINT32_MAX
#define ROOM 512u
static const uint32_t sizes[] = OUTPUT_BYTES;
#define OUTPUTS (sizeof sizes / sizeof *sizes)
static n6_post_box_t boxes[ROOM];
static n6_post_point_t points[256];
static n6_post_class_t classes[1000];
static uint8_t areas[1 << 16];

#if defined(__arm__)
#include "../bare_metal.h"

#define DEMCR (*(volatile uint32_t *)0xE000EDFCu)
#define DWT_CTRL (*(volatile uint32_t *)0xE0001000u)
#define DWT_CYCCNT (*(volatile uint32_t *)0xE0001004u)
#define MEMORY_BYTES 0x80000u
static uint8_t *const memory = (uint8_t *)0x34000000u;
static uint32_t input, output;

static void fault(void)
{
    fail("the decoder faulted\n", 3);
}

static void start(void)
{
    SCB_CCR |= SCB_CCR_LOB;
    DEMCR |= UINT32_C(1) << 24;
    DWT_CTRL |= 1u;
    input = open_file("outputs", 7, OPEN_READ_BINARY);
    output = open_file("found", 5, OPEN_WRITE_BINARY);
}

static uint32_t instructions(void)
{
    return DWT_CYCCNT;
}

static int can_read(uint32_t bytes)
{
    return read_file(input, memory, bytes) == 0;
}

static void put(const void *from, uint32_t bytes)
{
    write_file(output, from, bytes);
}
#else
#include <stdio.h>

#define MEMORY_BYTES (1u << 20)
static _Alignas(4) uint8_t memory[MEMORY_BYTES];

static void start(void)
{
}

static uint32_t instructions(void)
{
    return 0;
}

static int can_read(uint32_t bytes)
{
    return fread(memory, 1, bytes, stdin) == bytes;
}

static void put(const void *from, uint32_t bytes)
{
    (void)fwrite(from, 1, bytes, stdout);
}

static void leave(int status)
{
    (void)status;
}
#endif

static void put_line(const float *numbers, uint32_t count, uint32_t point_count)
{
    const uint32_t length = count + 3u * point_count;
    put(&length, sizeof length);
    if (count != 0u) {
        put(numbers, count * (uint32_t)sizeof *numbers);
    }
    put(points, point_count * (uint32_t)sizeof *points);
}

static void put_boxes(const void *const *data, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const n6_post_box_t *box = &boxes[i];
        n6_post_points_of(&n6_decoder, data, box, points);
        const float numbers[] = {(float)box->class, box->score, box->left, box->top, box->right - box->left, box->bottom - box->top};
        put_line(numbers, 6, n6_decoder.points);
    }
}

static uint32_t put_found(const void *const *data)
{
    const uint32_t before = instructions();
    uint32_t count, taken;
    switch (n6_decoder.coding) {
    case N6_POST_HEAT:
    case N6_POST_POINTS:
        count = n6_post_pose(&n6_decoder, data, points);
        taken = instructions() - before;
        put_line(0, 0, count);
        break;
    case N6_POST_SCORES:
        count = n6_post_classes(&n6_decoder, data, classes);
        taken = instructions() - before;
        for (uint32_t i = 0; i < count; i++) {
            put_line((const float[]){(float)classes[i].class, classes[i].score}, 2, 0);
        }
        break;
    case N6_POST_AREAS:
        n6_post_areas(&n6_decoder, data, areas);
        taken = instructions() - before;
        for (uint32_t i = 0; i < n6_decoder.width * n6_decoder.height; i++) {
            put_line((const float[]){(float)areas[i]}, 1, 0);
        }
        break;
    default:
        count = n6_post_boxes(&n6_decoder, data, boxes, ROOM);
        taken = instructions() - before;
        put_boxes(data, count);
    }
    return taken;
}

int main(void)
{
    start();
    const void *data[OUTPUTS];
    uint32_t whole = 0;
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        data[i] = memory + whole;
        whole += sizes[i];
    }
    (void)n6_decoder_names;
    while (whole <= MEMORY_BYTES && can_read(whole)) {
        const uint32_t taken = put_found(data), last = LAST;
        put(&last, sizeof last);
        put(&taken, sizeof taken);
    }
    leave(0);
    return 0;
}
