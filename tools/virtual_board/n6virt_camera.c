/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A camera: a sensor on an I2C bus, which sends pictures of a file while its registers say so. Its frames are finished pixels
 * (red, green, blue), as behind an ISP: exposure and gain have no effect. INFERRED: a frame begins when the program starts the
 * sensor, and then once in each period of the lines that a register counts; the last active line ends it.
 *
 *   ,camera=FILE           pictures, one after the other: rows of R, G, B; the last one repeats
 *   ,camera-raw=on         it sends raw pixels, as the sensor does, for the ISP of DCMIPP
 *   ,camera-frames=N       the camera is unplugged behind so many frames; 0: never
 *   ,camera-sensor=I2C1:0x1a:2592x1944:2:10:0x3000=0:0x3030:7407:0:12:220:100:180
 *                          its bus and address, size, lanes and bits of a pixel; the register and the value that start it; the
 *                          first register of the lines of a period, least significant first, two bytes; nanoseconds of a line; pattern of the
 *                          colours (0 to 3: RGGB, GRBG, GBRG, BGGR), value of black of 255,
 *                          gains of its colours in percent
 */
#include "n6virt.h"
#include "n6virt_isp.h"

#include "qemu/error-report.h"
#include "qemu/timer.h"

#define CHANNELS 3u
#define MOST_RECEIVERS 4
/* Fewer would end a frame after its period. */
#define LEAST_BLANKING 10u

static char *path, *described;
static unsigned bus, lanes, bits, start_register, start_value, lines_register, line_ns;
static uint32_t address;
static N6VirtFrameSent frame;
static uint8_t *pictures;
static uint32_t picture_count, frames_until_unplugged;
static const N6VirtReceiver *receivers[MOST_RECEIVERS];
static unsigned receiver_count;
static QEMUTimer *begin, *end;
static bool streams, sends_raw;
static N6VirtSensor sensor;

void n6virt_camera_connect(const N6VirtReceiver *receiver)
{
    g_assert(receiver_count < MOST_RECEIVERS);
    receivers[receiver_count++] = receiver;
}

const struct N6VirtSensor *n6virt_camera_raw(void)
{
    return sends_raw ? &sensor : NULL;
}

bool n6virt_camera_rests(void)
{
    return pictures && !streams;
}

unsigned n6virt_camera_lanes(void)
{
    return lanes;
}

unsigned n6virt_camera_bits(void)
{
    return bits;
}

static int64_t lines_ticks(uint32_t lines)
{
    return MAX((int64_t)(lines * line_ns * (n6virt_cpu_hz() / 1000000) / 1000), 1);
}

static uint32_t lines_of_period(void)
{
    uint32_t low = n6virt_i2c_value(bus, address, lines_register), high = n6virt_i2c_value(bus, address, lines_register + 1);

    return MAX(low | high << 8, frame.height + LEAST_BLANKING);
}

static void on_begin(void *opaque)
{
    if (frames_until_unplugged && frame.number == frames_until_unplugged) {
        n6virt_i2c_unplug(bus, address);
        return;
    }
    timer_mod(begin, n6virt_now() + lines_ticks(lines_of_period()));
    timer_mod(end, n6virt_now() + lines_ticks(frame.height));
    frame.pixels = pictures + (uint64_t)MIN(frame.number, picture_count - 1) * frame.width * frame.height * CHANNELS;
    frame.number++;
    for (unsigned i = 0; i < receiver_count; i++) {
        receivers[i]->start(&frame);
    }
}

static void on_end(void *opaque)
{
    for (unsigned i = 0; i < receiver_count; i++) {
        receivers[i]->end(&frame);
    }
}

static void update(void)
{
    bool now = pictures && n6virt_i2c_value(bus, address, start_register) == start_value;

    if (now == streams) {
        return;
    }
    streams = now;
    if (now) {
        timer_mod(begin, n6virt_now() + 1);
    } else {
        timer_del(begin);
    }
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "camera", &path);
    n6virt_text_property(machine, "camera-sensor", &described);
    n6virt_switch_property(machine, "camera-raw", &sends_raw);
    object_property_add_uint32_ptr(machine, "camera-frames", &frames_until_unplugged, OBJ_PROP_FLAG_READWRITE);
}

static void start(void)
{
    g_autoptr(GError) error = NULL;
    gsize bytes;

    if (!path || !*path) {
        return;
    }
    if (!described || sscanf(described, "I2C%u:%x:%ux%u:%u:%u:%x=%x:%x:%u:%u:%u:%u:%u:%u", &bus, &address, &frame.width, &frame.height, &lanes, &bits,
                             &start_register, &start_value, &lines_register, &line_ns, &sensor.pattern, &sensor.black, &sensor.daylight[N6VIRT_R],
                             &sensor.daylight[N6VIRT_G], &sensor.daylight[N6VIRT_B]) != 15) {
        error_report("Property camera-sensor does not describe a sensor");
        exit(1);
    }
    if (!g_file_get_contents(path, (gchar **)&pictures, &bytes, &error)) {
        error_report("Cannot read the pictures: %s", error->message);
        exit(1);
    }
    picture_count = bytes / ((uint64_t)frame.width * frame.height * CHANNELS);
    if (!picture_count) {
        error_report("Property camera has no whole picture of %u x %u", frame.width, frame.height);
        exit(1);
    }
    begin = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_begin, NULL);
    end = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_end, NULL);
}

static void reset(void)
{
    if (pictures) {
        timer_del(begin);
        timer_del(end);
        streams = false;
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = reset, .update = update};
N6VIRT_MODULE(module)
