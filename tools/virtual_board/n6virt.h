/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Interfaces between the source files of the virtual STM32N6 board. Names and addresses come from the generated n6_soc.h, the
 * same header that the firmware is compiled with.
 *
 * A peripheral is a module: a file n6virt_<name>.c that registers itself with N6VIRT_MODULE and models its blocks of registers.
 * A register without a model is stored, and its accesses are counted.
 */
#ifndef N6VIRT_H
#define N6VIRT_H

#include "qemu/osdep.h"
#include "exec/memory.h"
#include "hw/irq.h"
#include "qom/object.h"

#include "n6_soc.h"
#include "n6virt_chip.h"

/* Modules */

/* Each function may be NULL. Modules are called in no particular order. */
typedef struct {
    void (*add_properties)(Object *machine);
    /* Called when the processor and the memories exist, and nothing has run. */
    void (*start)(void);
    /* Called at power-on, after start, and at every system reset, when all registers are 0 again. */
    void (*reset)(void);
    /* Called after a write to a register of any block. */
    void (*update)(void);
    /* Called when a block of code is about to run for the first time. */
    void (*fetched)(uint32_t pc, uint32_t bytes);
    /* Append fields of the summary, each with a comma before it. */
    void (*summarise)(GString *summary);
} N6VirtModule;

void n6virt_add_module(const N6VirtModule *module);
#define N6VIRT_MODULE(module)                                          \
    static void __attribute__((constructor)) announce_this_module(void) \
    {                                                                  \
        n6virt_add_module(&(module));                                  \
    }

/* Properties of the machine that are kept in variables (n6virt_properties.c): numbers; a text, NULL if not set; a switch. */
typedef struct {
    const char *name;
    uint32_t *variable;
} N6VirtNumber;

void n6virt_number_properties(Object *machine, const N6VirtNumber *numbers, unsigned count);
void n6virt_text_property(Object *machine, const char *name, char **variable);
void n6virt_switch_property(Object *machine, const char *name, bool *variable);
/* Open a file if a path is given; end the emulator with a message if that fails. Return NULL without a path. */
FILE *n6virt_open(const char *path, const char *mode, const char *what);

/* Blocks of registers (n6virt_bus.c) */

typedef struct {
    const char *name;
    uint32_t base, bytes;
    uint32_t enable, enable_bits; /* enable register of RCC and its bits; 0: always on */
    uint32_t secure, secure_bits; /* register of RIFSC and its bit that make it secure; 0: RIFSC has none */
} N6VirtBlock;

typedef struct {
    /* NULL: a read returns the stored value. */
    uint32_t (*read)(const N6VirtBlock *block, uint32_t offset, unsigned size);
    /* NULL: a write stores the value. */
    void (*write)(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size);
    /* Offsets of the modelled registers, with N6VIRT_END at the end; NULL: all registers of the block. */
    const uint32_t *registers;
    /* Effect on the chip of an access without the block's clock; NULL: it may hang. */
    const char *without_clock;
    /* Offsets of registers that only restrict others, with N6VIRT_END at the end: a lost write has no effect on a secure
     * program. NULL: none. */
    const uint32_t *attributes;
} N6VirtModel;

#define N6VIRT_END UINT32_MAX

/* Set the model of the block with this base. */
void n6virt_model(uint32_t base, const N6VirtModel *model);
/* Set the model of every block whose name begins with prefix and continues with digits or a letter. */
void n6virt_model_all(const char *prefix, const N6VirtModel *model);
/* Return the block at an address, or NULL. */
const N6VirtBlock *n6virt_block_at(uint32_t address);

/* Call a function before each access to a register, or to an address where nothing is. */
void n6virt_on_access(void (*observe)(void));
/* Call these functions: before an access that the bus does not see, and at the end. */
void n6virt_note_access(void);

/* Functions that the machine calls, for all modules and blocks. */
void n6virt_bus_add_properties(Object *machine);
void n6virt_bus_start(void);
void n6virt_bus_reset(void);
void n6virt_bus_summarise(GString *summary);

/* Access to the store behind all registers, by secure address. */
uint32_t n6virt_get(uint32_t address);
void n6virt_set(uint32_t address, uint32_t value);
static inline bool n6virt_has(uint32_t address, uint32_t bits)
{
    return (n6virt_get(address) & bits) == bits;
}
static inline uint32_t n6virt_field(uint32_t address, uint32_t mask, unsigned position)
{
    return (n6virt_get(address) & mask) >> position;
}

/* Somebody who sees each access to a register: the registers that the program waits for (n6virt_waits.c). */
typedef struct {
    void (*was_read)(uint32_t address, uint32_t value);
    void (*was_written)(uint32_t address);
} N6VirtWatcher;
void n6virt_watch_registers(const N6VirtWatcher *watcher);
/* Return the register that the program waits for now, with the reading instruction and the number of reads; 0 if there is none. */
uint32_t n6virt_waits_for(uint32_t *pc, uint64_t *reads);

/* State where a program stops (n6virt_stop.c) */

/* Append a list of words, or the content of memory with its address, as fields of JSON with a comma before them. */
void n6virt_add_words(GString *text, const char *name, const uint32_t *words, unsigned count);
void n6virt_add_memory(GString *text, const char *name, uint32_t address, uint32_t bytes);
/* Write the processor's state, before the instruction at pc, as one of the stops of this run. */
void n6virt_write_state(uint32_t pc);

/* Findings: faults that the board reports, one JSON line each in a file. The same kind at the same instruction is counted and
 * written once. */

void n6virt_findings_open(const char *path);
/* Report a finding, at the current program counter or at pc. kind: a fixed word. address: the accessed one. */
void n6virt_finding(const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(3, 4);
void n6virt_finding_at(uint32_t pc, const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* Accesses of a debug probe: until the end, findings are kept from the file. The end returns the first of them that makes such an
 * access fail, as "KIND: TEXT", or NULL. */
void n6virt_begin_probe_access(void);
const char *n6virt_end_probe_access(void);
bool n6virt_is_probe_access(void);
/* Note whether a probe debugs the processor, which it may then halt. */
void n6virt_findings_note_probe(bool debugs);
/* Write a line that is no finding. */
void n6virt_findings_add(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* Write the line that ends the file. */
void n6virt_findings_close(const char *summary_fields);
/* Return the program counter of the instruction that is accessing a device; 0 outside of an access. */
uint32_t n6virt_pc(void);

/* Clocks (n6virt_rcc.c), in Hz; 0: not running. */

uint64_t n6virt_cpu_hz(void);
/* Rates of AHB, of an APB (1, 2, 4 or 5), of the timers, of an oscillator or a divider IC1 to IC20. */
uint64_t n6virt_ahb_hz(void);
uint64_t n6virt_apb_hz(unsigned number);
uint64_t n6virt_timer_hz(void);
/* Rate of per_ck, which some blocks can select. */
uint64_t n6virt_per_hz(void);
uint64_t n6virt_oscillator_hz(uint32_t on_bit);
uint64_t n6virt_ic_hz(unsigned number);
/* Rate of MDF1, ADF1 or a SAI, for a choice of its field of a CCIPR. bus_hz: rate of its bus, which is choice 0. */
uint64_t n6virt_audio_hz(uint32_t choice, uint64_t bus_hz);

/* Reset the system soon, between two instructions. reason: a flag of RCC HWRSR. */
void n6virt_system_reset(uint32_t reason);
/* Call `reset` when the program resets a block. bit: of RCC AHB5RSTR. */
void n6virt_on_block_reset(uint32_t bit, void (*reset)(void));

/* Guest time: one unit is an instruction, which stands for a tick of the CPU's clock (n6virt_processor.c). */

int64_t n6virt_now(void);
/* Return the instructions executed so far, without sleeps. */
int64_t n6virt_instructions(void);
/* Let guest time pass while the processor is stopped. */
void n6virt_skip(int64_t ticks);

/* Silicon where it is harsher than an emulator (n6virt_harsh.c) */

bool n6virt_is_harsh(void);
/* Fill a buffer with the content that memory at an address has at power-on: random words, zeros without harshness. Both are
 * multiples of 4. */
void n6virt_fill_fresh(void *to, uint32_t address, uint32_t bytes);
/* Return the guest time in so many microseconds. */
int64_t n6virt_after_us(uint32_t us);

/* Limits of a run (n6virt_time.c) */

/* Note that the console has sent or received a byte. */
void n6virt_not_silent(void);
/* Note a byte that the console has sent. It may complete the text that ends the run (n6virt_until.c). */
void n6virt_said(uint8_t byte);
/* End the emulator with the status of a limit. why: for the summary. */
void n6virt_end(const char *why);
void n6virt_start_time(void);

/* RAM (n6virt_ram.c) */

/* Regions of the Cortex-M55's MPU. */
#define N6VIRT_MPU_REGIONS 16

/* States of a line while the data cache is on. INSIDE: the CPU may have read it, so its copy may be old. OUTSIDE: the program
 * invalidated it by address, and the CPU has not read or written it since. */
enum { N6VIRT_INSIDE = 1, N6VIRT_OUTSIDE };

/* A RAM. Where the CPU's data cache serves it, each valid line is also in the cache: `cache` has the bytes that the CPU sees,
 * `filled` the bytes of memory when the line was filled or cleaned. A line where the two differ is dirty. */
typedef struct {
    const char *name;
    uint32_t base, bytes;
    uint32_t enable;     /* bits of RCC MEMENR; 0: its clock always runs */
    uint32_t ramcfg;     /* address of its RAMCFG CR; 0: cannot be shut down */
    bool on_after_reset; /* also for programs built here */
    bool shut_down_after_reset; /* RAMCFG */
    bool cacheable;
    uint32_t risaf; /* base of the filter (RISAF) in front of it; 0: none is modelled */
    bool erased_by_reset;
    bool is_shut_down;
    MemoryRegion memory, cached, off, alias;
    MemoryRegion around[N6VIRT_MPU_REGIONS]; /* parts of memory that the MPU keeps out of the cache */
    uint8_t *data;                           /* content of memory */
    uint8_t *cache, *filled;                 /* NULL if not cacheable */
    uint8_t *valid;                          /* by line: 0, or its state */
    uint8_t *cleaned;                        /* by line: ever cleaned by address */
    uint32_t *dropped;                       /* by line: instruction that dropped its data; 0: none did. NULL: never one */
    uint8_t *lost;                           /* data of the dropped lines, and what masters wrote there since */
    uint8_t *translated;                     /* by page: code from there was ever translated. NULL: none was */
} N6VirtRam;

/* Return the RAM at an address, in the chip or behind an XSPI; NULL if there is none. */
N6VirtRam *n6virt_ram_at(uint32_t address);
/* Return the chip's RAM number i; NULL after the last one. */
N6VirtRam *n6virt_ram(unsigned i);
/* Add RAM outside the chip. Filled in are: name, base, bytes, memory, data and cleaned. */
void n6virt_add_outside_ram(N6VirtRam *ram);
bool n6virt_ram_is_on(const N6VirtRam *ram);
/* Note a change of a RAM, or of the cache in front of it, that the CPU did not make: code from there is translated again. */
void n6virt_changed(const N6VirtRam *ram, uint32_t offset, uint32_t bytes);
/* Switch RAMs on and off, after a write to RCC MEMENR or a RAMCFG. */
void n6virt_ram_update(void);
/* Let the CPU see the lines of the data cache, or memory. */
void n6virt_ram_show_cache(bool shown);
/* Return whether the line that begins at an offset of a cacheable RAM is dirty. */
bool n6virt_is_dirty(const N6VirtRam *ram, uint32_t offset);
/* Return whether bytes within one line of a RAM are dirty and differ from memory. offset: in the RAM. */
bool n6virt_is_newer_in_cache(const N6VirtRam *ram, uint32_t offset, uint32_t bytes);

/* The data cache (n6virt_cache.c), and masters other than the CPU, which read and write memory. */

/* Watch a range of lines that are dirty in a cache that is off; stop watching all ranges (n6virt_hidden.c). */
void n6virt_hide(N6VirtRam *ram, uint32_t offset, uint32_t bytes);
void n6virt_hide_nothing(void);
/* Brings the lines of an access by the CPU into the cache. Returns whether one was outside. */
typedef bool N6VirtTouch(N6VirtRam *ram, uint32_t offset, uint32_t bytes);
/* Call `touch` for the CPU's accesses to the page of a line that is outside, until all lines of the page are inside
 * (n6virt_outside.c). */
void n6virt_watch(N6VirtRam *ram, uint32_t offset, N6VirtTouch *touch);
/* Read as a bus master. *stale counts the lines that are newer in the cache, *first is the first of them. Return false where it
 * cannot read. */
bool n6virt_master_read(uint32_t address, void *data, uint32_t bytes, uint32_t *stale, uint32_t *first);
/* Report, at the instruction that lost it, data that a master reads as it was before the CPU wrote it. reader: the master. */
void n6virt_report_dropped(uint32_t address, uint32_t bytes, const char *reader);
/* Write as a bus master, to RAM only. *dirty counts dirty lines, whose write-back will overwrite the data. The CPU sees its
 * cached data until it invalidates the line, unless the line is outside. Return false where it cannot write; some bytes may be
 * written. */
bool n6virt_master_write(uint32_t address, const void *data, uint32_t bytes, uint32_t *dirty, uint32_t *first);

/* A bus master other than the CPU (n6virt_master.c). name, inside: as a sentence begins with it, and inside of one. */
typedef struct {
    unsigned number; /* of N6VirtMaster */
    const char *name, *inside;
} N6VirtPort;

/* Access memory as this master, with findings at pc that end with `when`. Where a bank is off or RIF denies access, reads give
 * zeros and writes do nothing. Return false where there is no memory. */
bool n6virt_port_reads(const N6VirtPort *port, uint32_t pc, uint32_t address, void *to, uint32_t bytes, const char *when);
bool n6virt_port_writes(const N6VirtPort *port, uint32_t pc, uint32_t address, const void *from, uint32_t bytes, const char *when);
/* The same of memory that is known to be on and open to the master. */
bool n6virt_port_reads_open(const N6VirtPort *port, uint32_t pc, uint32_t address, void *to, uint32_t bytes, const char *when);
bool n6virt_port_writes_open(const N6VirtPort *port, uint32_t pc, uint32_t address, const void *from, uint32_t bytes, const char *when);

/* Put a tool's data into RAM. CPU and masters see it at once, whatever was in the data cache; its lines are clean afterwards.
 * Return false where no RAM is on; some bytes may be written. */
bool n6virt_put(uint32_t address, const void *data, uint32_t bytes);
/* Read the data written last, by the CPU or by a master, in the cache or in memory. Return false where it cannot be read. */
bool n6virt_latest(uint32_t address, void *data, uint32_t bytes);

/* RIF (n6virt_rif.c): access of masters other than the CPU to memory */

#define N6VIRT_MASTER(name, number) N6VIRT_MASTER_##name = number,
typedef enum { N6VIRT_MASTERS(N6VIRT_MASTER) N6VIRT_MASTER_COUNT } N6VirtMaster;

/* Return the reason why the master may not access memory, or NULL. The NPU's own attributes as a peripheral count, too. */
const char *n6virt_rif_objection(N6VirtMaster master, uint32_t address, uint32_t bytes, bool writes);
/* Return the reason why a debug probe may not access memory, or NULL. */
const char *n6virt_rif_refuses_probe(uint32_t address, uint32_t bytes, bool writes);

/* DMA controllers (n6virt_dma.c) */

/* Set or clear a block's request for a transfer. request: the number that a channel selects. */
void n6virt_dma_request(unsigned request, bool asks);

/* Sound at the microphones (n6virt_audio.c) */

/* Return a sample, signed, 24 bits. number: counts from the first sample taken of the microphone; hz: samples a second. */
int32_t n6virt_audio_sample(uint64_t number, uint64_t hz);

/* I2C (n6virt_i2c.c) */

/* Return the value of a register of a device, or -1 without such a device. bus: 1 for I2C1. */
int64_t n6virt_i2c_value(unsigned bus, uint32_t address, uint32_t number);
/* Let a device answer no more. */
void n6virt_i2c_unplug(unsigned bus, uint32_t address);

/* The camera (n6virt_camera.c) */

typedef struct {
    uint32_t width, height;
    uint32_t number;       /* counts from 1 */
    const uint8_t *pixels; /* rows of R, G, B */
} N6VirtFrameSent;

/* A receiver is called at the start and at the end of each frame that the camera sends. */
typedef struct {
    void (*start)(const N6VirtFrameSent *frame);
    void (*end)(const N6VirtFrameSent *frame);
} N6VirtReceiver;
void n6virt_camera_connect(const N6VirtReceiver *receiver);
/* Return what the sensor adds to raw pixels; NULL if the camera sends finished ones. */
const struct N6VirtSensor *n6virt_camera_raw(void);
/* Return whether the board has a camera that is in standby. */
bool n6virt_camera_rests(void);
/* Return the lanes of the camera, and the bits of a pixel. */
unsigned n6virt_camera_lanes(void);
unsigned n6virt_camera_bits(void);
/* Return the reason why CSI does not receive a virtual channel, or NULL (n6virt_csi.c). */
const char *n6virt_csi_objection(unsigned channel);

/* Pictures for the tool (n6virt_pictures.c): the file of property pictures. */

enum { N6VIRT_PANEL, N6VIRT_PIPE_0, N6VIRT_PIPE_1, N6VIRT_PIPE_2, N6VIRT_FILL, N6VIRT_LAYER };

/* A rectangle of pixels in memory. pitch: bytes from line to line; bytes: of a pixel. */
typedef struct {
    uint32_t address, pitch, bytes;
} N6VirtSurface;

bool n6virt_keeps_pictures(void);
/* Keep a picture with rows of R, G, B. frame: of the camera, the last one that was sent for the panel. */
void n6virt_keep_picture(unsigned source, uint32_t frame, uint32_t width, uint32_t height, const uint8_t *pixels);
/* Keep a rectangle that DMA2D filled, with its colour; a layer of the picture that follows, with its number and its place. */
void n6virt_keep_fill(const N6VirtSurface *surface, uint32_t width, uint32_t height, uint32_t colour);
void n6virt_keep_layer(const N6VirtSurface *surface, unsigned number, uint32_t left, uint32_t top);
/* Note that the panel has shown a new picture; the run may end with it. */
void n6virt_was_shown(void);

/* The board's pins (n6virt_gpio.c) */

/* Return whether a pin is in alternate mode with this function. port: address of its GPIO. */
bool n6virt_pin_is(uint32_t port, unsigned pin, unsigned alternate);
/* Return the reason why a part on some pins of a port receives nothing, or NULL. what: the part, for the text. */
const char *n6virt_wrong_pin(uint32_t port, uint32_t pins, unsigned alternate, const char *what);
/* Return the reason why pins are too slow for a clock, or NULL. Only with harshness. */
const char *n6virt_slow_pin(uint32_t port, uint32_t pins, uint64_t hz);
/* Return the letter of a port, such as 'E' for GPIOE; '?' without a block at the address. */
char n6virt_port_letter(uint32_t port);

/* The NPU (n6virt_npu.c) */

extern const N6VirtPort n6virt_npu_port;
/* Add a unit that the chip does not have. offset: in the NPU's registers; the unit's model gets offsets from there. */
void n6virt_npu_add_unit(uint32_t offset, uint32_t bytes, const N6VirtModel *unit);

/* Return whether the program was built for this board. A third-party program may depend on unknown behaviour of the chip. */
bool n6virt_is_strict(void);
void n6virt_set_strict(bool strict);
/* Return whether the boot ROM has read the program from the NOR. */
bool n6virt_is_flash_boot(void);

/* Return a word of the fuses. */
uint32_t n6virt_fuse(unsigned word);
/* Blow bits of a fuse word as the boot ROM does; without a file of fuses they last until the next reset. */
void n6virt_rom_blows(unsigned word, uint32_t bits);
/* Return whether the fuses close the chip: the boot ROM starts signed programs only. */
bool n6virt_is_closed(void);
/* Return whether the fuses let the boot ROM of a closed chip start other FSBLs than ST's own. */
bool n6virt_is_provisioned(void);

/* Return whether the fuses have the digest of keys for FSBLs (n6virt_rom_keys.c). */
bool n6virt_rom_has_keys(void);
/* Return why the boot ROM of a closed chip does not start an image whose length was checked, or NULL. The caller frees the text. */
char *n6virt_rom_objection(const uint8_t *header);
/* Blow the fuses that the boot ROM blows when it starts an image without an objection. */
void n6virt_rom_accepts(const uint8_t *header);
/* Set the function that the boot ROM calls in development boot, to open AP1. Without one, AP1 is open at once. */
void n6virt_boot_lets_in(void (*function)(void));
/* Run the boot ROM (n6virt_boot.c): start the FSBL that it finds in the NOR, or end the emulator. */
void n6virt_boot(CPUState *cpu, const uint8_t *nor, uint32_t nor_bytes);
/* Return the bytes of an image and its header, as the header states; 0 if there is no image that fits into room bytes. */
uint32_t n6virt_image_bytes(const uint8_t *header, uint32_t room);

/* XSPI1 and XSPI2 (n6virt_xspi.c), by their base */

/* Phases of a command before the data, in the layout of the controller's registers CCR, TCR, IR and AR. */
typedef struct {
    uint32_t lines, timing, instruction, address;
    bool reads; /* data from the part */
} N6VirtFrame;

/* The part at a controller. It gives or takes bytes between begin and end; end may be NULL. */
typedef struct {
    void (*begin)(const N6VirtFrame *frame);
    uint8_t (*read)(void);
    void (*write)(uint8_t value);
    void (*end)(void);
    /* Return the guest time before which the status cannot change; NULL: it can change at any time. */
    int64_t (*ready_at)(void);
} N6VirtPart;

void n6virt_xspi_connect(uint32_t base, const N6VirtPart *part);
/* Return the rate of the lines, in Hz; 0: not running. */
uint64_t n6virt_xspi_hz(uint32_t base);
/* Return the size of the part as the controller is configured: DCR1 DEVSIZE. */
uint64_t n6virt_xspi_part_bytes(uint32_t base);
/* Return the reason why an access to the window faults, or NULL. */
const char *n6virt_xspi_unmapped(uint32_t base);
/* Note a read of the window. */
void n6virt_xspi_window_read(uint32_t base);

/* The NOR behind XSPI2 (n6virt_nor.c) */

/* Return the NOR's content and its size; NULL without a NOR. */
const uint8_t *n6virt_nor_content(uint32_t *bytes);
bool n6virt_nor_uses_port(uint32_t port);

/* The PSRAM behind XSPI1, if the board has one (n6virt_psram.c) */

bool n6virt_psram_uses_port(uint32_t port);

/* The processor (n6virt_processor.c) */

/* Add it to the machine. on_reset_request: called when the program asks for a reset of the system. */
void n6virt_add_processor(Object *machine, qemu_irq_handler on_reset_request);
void n6virt_interrupt(unsigned number, bool level);
/* Return whether the NVIC enables the interrupt, in either security state. */
bool n6virt_interrupt_is_enabled(unsigned number);
/* Reset the machine soon, between two instructions; n6virt_system_reset also notes the reason. */
void n6virt_reset_machine(void);

void n6virt_add_io(MemoryRegion *region, MemoryRegion *parent, const MemoryRegionOps *ops, const char *name, uint64_t base,
                   uint64_t bytes, int priority);
/* Let a module put operations in front of those of each region that is added from now on; it may return the region's own. base:
 * address in its parent. */
typedef const MemoryRegionOps *N6VirtFront(const MemoryRegionOps *own, const char *name, uint64_t base, void **opaque);
void n6virt_put_in_front(N6VirtFront *put);
/* Return the region that contains the Cortex-M's own registers. */
MemoryRegion *n6virt_processor_region(void);
/* Access the system control space (0xE000E000) in QEMU's own model. */
MemTxResult n6virt_processor_read(uint32_t address, uint64_t *value, unsigned size, MemTxAttrs attributes);
MemTxResult n6virt_processor_write(uint32_t address, uint64_t value, unsigned size, MemTxAttrs attributes);
/* Return the address that a lost CPU came from. */
uint32_t n6virt_caller(void);
/* Return whether the CPU cannot take a further fault. */
bool n6virt_is_locked_up(void);
/* Return the program counter outside of an access: that of the block in execution. */
uint32_t n6virt_last_pc(void);

#endif
