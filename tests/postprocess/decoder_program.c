/* Decodes outputs from the standard input by n6_decoder.h, until its end, and prints everything that is found. */
#include <stddef.h>
#include <stdio.h>

#include "n6_decoder.h"

#define ROOM 512u
static const uint32_t sizes[] = OUTPUT_BYTES;
#define OUTPUTS (sizeof sizes / sizeof *sizes)
static _Alignas(4) uint8_t memory[1 << 20];
static n6_post_box_t boxes[ROOM];
static n6_post_point_t points[256];
static n6_post_class_t classes[1000];
static uint8_t areas[1 << 16];

static void put_points(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        printf(" %.9g %.9g %.9g", (double)points[i].x, (double)points[i].y, (double)points[i].score);
    }
    puts("");
}

static void put_found(const void *const *data)
{
    switch (n6_decoder.coding) {
    case N6_POST_HEAT:
    case N6_POST_POINTS:
        put_points(n6_post_pose(&n6_decoder, data, points));
        break;
    case N6_POST_SCORES: {
        const uint32_t count = n6_post_classes(&n6_decoder, data, classes);
        for (uint32_t i = 0; i < count; i++) {
            printf("%u %.9g\n", (unsigned)classes[i].class, (double)classes[i].score);
        }
        break;
    }
    case N6_POST_AREAS:
        n6_post_areas(&n6_decoder, data, areas);
        for (uint32_t i = 0; i < n6_decoder.width * n6_decoder.height; i++) {
            printf("%u\n", (unsigned)areas[i]);
        }
        break;
    default: {
        const uint32_t count = n6_post_boxes(&n6_decoder, data, boxes, ROOM);
        for (uint32_t i = 0; i < count; i++) {
            const n6_post_box_t *box = &boxes[i];
            printf("%u %.9g %.9g %.9g %.9g %.9g", (unsigned)box->class, (double)box->score, (double)box->left, (double)box->top,
                   (double)(box->right - box->left), (double)(box->bottom - box->top));
            n6_post_points_of(&n6_decoder, data, box, points);
            put_points(n6_decoder.points);
        }
    }
    }
    puts("end");
}

int main(void)
{
    const void *data[OUTPUTS];
    size_t whole = 0;
    for (size_t i = 0; i < OUTPUTS; i++) {
        data[i] = memory + whole;
        whole += sizes[i];
    }
    (void)n6_decoder_names;
    while (whole <= sizeof memory && fread(memory, 1, whole, stdin) == whole) {
        put_found(data);
    }
    return 0;
}
