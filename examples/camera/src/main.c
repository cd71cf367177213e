/* SPDX-License-Identifier: Apache-2.0
 *
 * Show the camera with what the network finds in its pictures, and print it, a line of JSON for each picture.
 */
#include "camera.h"
#include "display.h"
#include "n6_board_psram.h"
#include "n6_console.h"
#include "n6_decoder.h"
#include "n6_network.h"
#include "n6_picture.h"
#include "n6_postprocess.h"
#include "n6_xspi_psram.h"

#define MOST_BOXES 512u
#define WINDOW 480u /* pixels of the longer side on the panel */
#define LINE 32u    /* of the data cache */

static n6_post_box_t boxes[MOST_BOXES];

/* All pictures are in the upper end of the PSRAM. The camera's pictures are no larger than the window. */
#define PICTURE_BYTES ((N6_PICTURE_WIDTH * 3u + 15u) / 16u * 16u * N6_PICTURE_HEIGHT)
#define INPUT_BYTES (N6_PICTURE_WIDTH * N6_PICTURE_HEIGHT * N6_PICTURE_CHANNELS * sizeof(n6_picture_value_t))
#define DRAWING_BYTES (2u * WINDOW * WINDOW)
#define WHOLE_LINES(bytes) (((bytes) + LINE - 1u) / LINE * LINE)
#define DRAWINGS_AT (N6_PSRAM_BASE + N6_PSRAM_BYTES - 2u * DRAWING_BYTES - LINE)
#define VIEW_AT (DRAWINGS_AT - DRAWING_BYTES)
#define PICTURE_AT (VIEW_AT - WHOLE_LINES(PICTURE_BYTES))
#define INPUT_AT (PICTURE_AT - WHOLE_LINES(INPUT_BYTES))
#define AREAS_AT (INPUT_AT - WHOLE_LINES(n6_decoder.width * n6_decoder.height))

static const display_colour_t colours[] = {DISPLAY_GREEN, DISPLAY_RED, DISPLAY_CYAN, DISPLAY_MAGENTA, DISPLAY_YELLOW};
#define COLOURS (sizeof colours / sizeof colours[0])

static int fail(const char *why, const char *what)
{
    n6_put("app: ");
    n6_put(why);
    n6_put(what);
    n6_put_end();
    return 1;
}

/* Make the network's input of a picture of red, green and blue, as `preprocess` in model.yaml says. */
static void fill_input(const uint8_t *picture, n6_picture_value_t *input)
{
    for (uint32_t y = 0; y < N6_PICTURE_HEIGHT; y++) {
        const uint8_t *pixel = picture + y * camera_pitch(N6_PICTURE_WIDTH);
        for (uint32_t x = 0; x < N6_PICTURE_WIDTH; x++, pixel += 3) {
            for (uint32_t channel = 0; channel < N6_PICTURE_CHANNELS; channel++) {
                uint32_t value = pixel[N6_PICTURE_IS_BGR ? N6_PICTURE_CHANNELS - 1u - channel : channel];
                if (N6_PICTURE_CHANNELS == 1u) {
                    value = (pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u + 0x8000u) >> 16; /* ITU-R BT.601 */
                }
                input[N6_PICTURE_HAS_PLANES ? (channel * N6_PICTURE_HEIGHT + y) * N6_PICTURE_WIDTH + x
                                            : (y * N6_PICTURE_WIDTH + x) * N6_PICTURE_CHANNELS + channel] =
                    n6_picture_values[channel][value];
            }
        }
    }
}

static void put_share(const char *name, float share)
{
    uint32_t thousandths = share <= 0.0f ? 0u : (uint32_t)(share * 1000.0f + 0.5f);
    n6_put(name);
    n6_put_u32(thousandths / 1000u);
    n6_put(".");
    for (uint32_t place = 100u; place != 0u; place /= 10u) {
        n6_put_u32(thousandths / place % 10u);
    }
}

static void put_class(bool is_first, uint32_t class, const char *name, float share)
{
    n6_put(is_first ? "{\"class\": \"" : ", {\"class\": \"");
    n6_put(n6_decoder_names[class]);
    n6_put("\"");
    put_share(name, share);
}

static void show_boxes(const display_window_t *window, const void *const *outputs)
{
    float width = (float)window->width, height = (float)window->height;
    uint32_t count = n6_post_boxes(&n6_decoder, outputs, boxes, MOST_BOXES);
    for (uint32_t i = 0; i < count; i++) {
        const n6_post_box_t *box = &boxes[i];
        put_class(i == 0u, box->class, ", \"score\": ", box->score);
        put_share(", \"left\": ", box->left);
        put_share(", \"top\": ", box->top);
        put_share(", \"right\": ", box->right);
        put_share(", \"bottom\": ", box->bottom);
        n6_put("}");
        int32_t x = (int32_t)(box->left * width), y = (int32_t)(box->top * height);
        display_box(window, x, y, (int32_t)(box->right * width) - x, (int32_t)(box->bottom * height) - y,
                    colours[box->class % COLOURS]);
    }
}

static void show_pose(const display_window_t *window, const void *const *outputs)
{
    static n6_post_point_t points[N6_DECODER_CLASSES + 1u];
    uint32_t count = n6_post_pose(&n6_decoder, outputs, points);
    for (uint32_t i = 0; i < count; i++) {
        put_class(i == 0u, i, ", \"score\": ", points[i].score);
        put_share(", \"x\": ", points[i].x);
        put_share(", \"y\": ", points[i].y);
        n6_put("}");
        if (points[i].score >= n6_decoder.least_score) {
            display_fill(window, (int32_t)(points[i].x * (float)window->width) - 2,
                         (int32_t)(points[i].y * (float)window->height) - 2, 5, 5, DISPLAY_YELLOW);
        }
    }
}

static void show_classes(const void *const *outputs)
{
    static n6_post_class_t found[N6_DECODER_CLASSES + 1u];
    uint32_t count = n6_post_classes(&n6_decoder, outputs, found);
    for (uint32_t i = 0; i < count; i++) {
        put_class(i == 0u, found[i].class, ", \"score\": ", found[i].score);
        n6_put("}");
    }
}

/* The first class, which is the background of most networks, stays as it is. */
static void show_areas(const display_window_t *window, const void *const *outputs)
{
    uint8_t *classes = (uint8_t *)AREAS_AT;
    uint32_t pixels[N6_DECODER_CLASSES + 1u] = {0}, all = n6_decoder.width * n6_decoder.height;
    n6_post_areas(&n6_decoder, outputs, classes);
    for (uint32_t i = 0; i < all; i++) {
        pixels[classes[i]]++;
    }
    bool is_first = true;
    for (uint32_t i = 0; i < N6_DECODER_CLASSES; i++) {
        if (pixels[i] != 0u) {
            put_class(is_first, i, ", \"share\": ", (float)pixels[i] / (float)all);
            n6_put("}");
            is_first = false;
        }
    }
    display_areas(window, classes, n6_decoder.width, n6_decoder.height, colours, COLOURS);
}

static void show_found(const display_window_t *window, uint32_t frame)
{
    const void *outputs[N6_DECODER_OUTPUTS];
    uint32_t bytes;
    for (uint32_t i = 0; i < N6_DECODER_OUTPUTS; i++) {
        outputs[i] = n6_network_output(0, n6_decoder_output_names[i], &bytes);
    }
    n6_put("{\"frame\": ");
    n6_put_u32(frame);
    n6_put(", \"found\": [");
    switch (n6_decoder.coding) {
    case N6_POST_SCORES:
        show_classes(outputs);
        break;
    case N6_POST_HEAT:
    case N6_POST_POINTS:
        show_pose(window, outputs);
        break;
    case N6_POST_AREAS:
        show_areas(window, outputs);
        break;
    default:
        show_boxes(window, outputs);
        break;
    }
    n6_put("]}");
    n6_put_end();
}

int main(void)
{
    n6_caches_enable();
    n6_console_open();
    n6_network_result_t opened = n6_network_open();
    if (opened.why[0] != '\0') {
        return fail(opened.why, opened.what);
    }
    uint32_t id;
    n6_psram_status_t psram = n6_xspi_psram_is_mapped() ? N6_PSRAM_OK : n6_xspi_psram_open(&id);
    if (psram != N6_PSRAM_OK) {
        return fail(n6_xspi_psram_text(psram), "");
    }
    const uint32_t width = N6_PICTURE_WIDTH, height = N6_PICTURE_HEIGHT, longer = width > height ? width : height;
    const display_window_t window = {VIEW_AT, DRAWINGS_AT, WINDOW * width / longer & ~7u, WINDOW * height / longer & ~7u};
    const char *why = display_open(&window);
    if (why[0] == '\0') {
        why = camera_open();
    }
    if (why[0] != '\0') {
        return fail(why, "");
    }
    const camera_part_t part = camera_middle(width, height, N6_PICTURE_IS_STRETCHED);
    camera_show(part, window.picture, window.width, window.height);
    n6_picture_value_t *input = (n6_picture_value_t *)INPUT_AT;
    for (uint32_t frame = 1;; frame++) {
        if (!camera_take(part, PICTURE_AT, width, height)) {
            return fail("no frame arrives: does the sensor send?", "");
        }
        fill_input((const uint8_t *)PICTURE_AT, input);
        if (!n6_network_run(0, input, INPUT_BYTES)) {
            return fail("the network takes no such input: ", n6_network_name(0));
        }
        show_found(&window, frame);
        display_next(&window);
    }
}
