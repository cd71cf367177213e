/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the virtual STM32N6 board tell each other. Names and addresses come from the generated n6_soc.h, the
 * same header that the firmware is compiled with.
 *
 * A peripheral is a module: a file n6virt_<name>.c that announces itself with N6VIRT_MODULE and gives its blocks of registers a
 * model. What no model answers is stored, and counted.
 */
#ifndef N6VIRT_H
#define N6VIRT_H

#include "qemu/osdep.h"
#include "exec/memory.h"
#include "qom/object.h"

#include "n6_soc.h"
#include "n6virt_chip.h"

/* Modules */

/* Each function may be NULL. Modules are called in no particular order. */
typedef struct {
    void (*add_properties)(Object *machine);
    /* The processor and the memories exist; nothing has run. */
    void (*start)(void);
    /* At power-on, after start, and at every system reset: all registers are 0 again. */
    void (*reset)(void);
    /* A register was written, of whatever block. */
    void (*update)(void);
    /* Fields of the summary, each with a comma before it. */
    void (*summarise)(GString *summary);
} N6VirtModule;

void n6virt_add_module(const N6VirtModule *module);
#define N6VIRT_MODULE(module)                                          \
    static void __attribute__((constructor)) announce_this_module(void) \
    {                                                                  \
        n6virt_add_module(&(module));                                  \
    }

/* Properties of the machine that are kept in a variable (n6virt_properties.c): numbers; a text, NULL without one; a switch. */
typedef struct {
    const char *name;
    uint32_t *variable;
} N6VirtNumber;

void n6virt_number_properties(Object *machine, const N6VirtNumber *numbers, unsigned count);
void n6virt_text_property(Object *machine, const char *name, char **variable);
void n6virt_switch_property(Object *machine, const char *name, bool *variable);

/* Blocks of registers (n6virt_bus.c) */

typedef struct {
    const char *name;
    uint32_t base, bytes;
    uint32_t enable, enable_bits; /* register of RCC and its bits; 0: always on */
} N6VirtBlock;

typedef struct {
    /* NULL: what was written is read. */
    uint32_t (*read)(const N6VirtBlock *block, uint32_t offset, unsigned size);
    /* NULL: the value is kept. */
    void (*write)(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size);
    /* Offsets of the registers that the model answers, N6VIRT_END behind the last; NULL: of all in the block. */
    const uint32_t *registers;
    /* What happens on the chip when it is accessed without its clock; NULL: it may hang. */
    const char *without_clock;
} N6VirtModel;

#define N6VIRT_END UINT32_MAX

/* base: of one of the chip's blocks. */
void n6virt_model(uint32_t base, const N6VirtModel *model);
/* Every block whose name begins with prefix and continues with digits or a letter. */
void n6virt_model_all(const char *prefix, const N6VirtModel *model);
/* The block at an address; NULL where there is none. */
const N6VirtBlock *n6virt_block_at(uint32_t address);

/* Of the machine, for all modules and blocks. */
void n6virt_bus_add_properties(Object *machine);
void n6virt_bus_start(void);
void n6virt_bus_reset(void);
void n6virt_bus_summarise(GString *summary);

/* The store behind all registers, by secure address. */
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

void n6virt_interrupt(unsigned number, bool level);
/* In the NVIC, for whichever state it is for. */
bool n6virt_interrupt_is_enabled(unsigned number);

/* Findings: what the board objects to, one JSON line each in a file. The same kind at the same instruction is counted and
 * written once. */

void n6virt_findings_open(const char *path);
/* kind: a fixed word. address: that was touched. pc is added. */
void n6virt_finding(const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(3, 4);
void n6virt_finding_at(uint32_t pc, const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* The line that ends the file. */
void n6virt_findings_close(const char *summary_fields);
/* Program counter of the instruction that is accessing a device; 0 outside of one. */
uint32_t n6virt_pc(void);

/* Clocks (n6virt_rcc.c), in Hz; 0: does not run. */

uint64_t n6virt_cpu_hz(void);
/* Of AHB, of an APB (1, 2, 4 or 5), of the timers, of an oscillator or a divider IC1 to IC20. */
uint64_t n6virt_ahb_hz(void);
uint64_t n6virt_apb_hz(unsigned number);
uint64_t n6virt_timer_hz(void);
/* per_ck, which some blocks can choose. */
uint64_t n6virt_per_hz(void);
uint64_t n6virt_oscillator_hz(uint32_t on_bit);
uint64_t n6virt_ic_hz(unsigned number);
/* Of MDF1, ADF1 and the SAIs, by the choice in their field of a CCIPR; bus_hz: of their bus, which choice 0 is. */
uint64_t n6virt_audio_hz(uint32_t choice, uint64_t bus_hz);

/* The next reset happens for this reason: a flag of RCC HWRSR. */
void n6virt_reset_reason(uint32_t flag);

/* Guest time (n6virt_time.c): an instruction is one unit, a tick of the CPU's clock. */

int64_t n6virt_now(void);
/* Executed so far, without what was slept. */
int64_t n6virt_instructions(void);
/* The console has said or heard a byte. */
void n6virt_not_silent(void);
/* The console has said this byte, which may be the last one of a text that ends the run (n6virt_until.c). */
void n6virt_said(uint8_t byte);
/* Ends the emulator as a limit does. why: for the summary. */
void n6virt_end(const char *why);
void n6virt_start_time(void);

/* RAM (n6virt_ram.c) */

/* Of the Cortex-M55's MPU. */
#define N6VIRT_MPU_REGIONS 16

/* Where the CPU's data cache is in front of it, each line is in the cache, too, if it is valid: cache is what the CPU sees there,
 * filled what memory held when the line came, or was cleaned. A line that differs from that is dirty. */
typedef struct {
    const char *name;
    uint32_t base, bytes;
    uint32_t enable;     /* bits of RCC MEMENR; 0: has its clock always */
    uint32_t ramcfg;     /* address of its RAMCFG CR; 0: cannot be shut down */
    bool on_after_reset; /* MEMENR */
    bool shut_down_after_reset; /* RAMCFG */
    bool cacheable;
    uint32_t risaf; /* base of the filter in front of it; 0: none is modelled */
    bool is_shut_down;
    MemoryRegion memory, cached, off, alias;
    MemoryRegion around[N6VIRT_MPU_REGIONS]; /* parts of memory that the MPU keeps out of the cache */
    uint8_t *data;                           /* what is in memory */
    uint8_t *cache, *filled;                 /* NULL if not cacheable */
    uint8_t *valid;                          /* by line */
    uint8_t *cleaned;                        /* by line: by its address, ever */
} N6VirtRam;

/* What the chip has, and what stands behind an XSPI. NULL: none is at the address. */
N6VirtRam *n6virt_ram_at(uint32_t address);
/* That number i of the chip's; NULL behind the last. */
N6VirtRam *n6virt_ram(unsigned i);
/* RAM outside the chip: name, base, bytes, memory, data and cleaned are filled in. */
void n6virt_add_outside_ram(N6VirtRam *ram);
bool n6virt_ram_is_on(const N6VirtRam *ram);
/* Not by the CPU: code that was read from there is read again. */
void n6virt_changed(MemoryRegion *region, uint32_t offset, uint32_t bytes);
/* After a write to RCC MEMENR or a RAMCFG, and when the data cache is switched. */
void n6virt_ram_update(void);

/* The data cache (n6virt_cache.c), and masters beside the CPU, which read and write memory. */

bool n6virt_data_cache_is_on(void);
/* Some of what is in one line of a RAM, by its offset: a dirty line differs from memory. */
bool n6virt_is_newer_in_cache(const N6VirtRam *ram, uint32_t offset, uint32_t bytes);
/* n6virt_hidden.c: a range of lines that are dirty in a cache that is off; then, that there are none. */
void n6virt_hide(N6VirtRam *ram, uint32_t offset, uint32_t bytes);
void n6virt_hide_nothing(void);
/* What a bus master reads; counts lines that are newer in the cache, the first of which is *first. False where it cannot read. */
bool n6virt_master_read(uint32_t address, void *data, uint32_t bytes, uint32_t *stale, uint32_t *first);
/* What a bus master writes, to RAM only; counts dirty lines, which will overwrite it when they are written back. The CPU sees what is
 * in its cache until it invalidates the line. False where it cannot write; some of it may be written. */
bool n6virt_master_write(uint32_t address, const void *data, uint32_t bytes, uint32_t *dirty, uint32_t *first);

/* What a tool beside the board puts into RAM: CPU and masters see it at once, whatever was in the data cache; its lines are clean
 * afterwards. False where no RAM is on; some of it may be written. */
bool n6virt_put(uint32_t address, const void *data, uint32_t bytes);
/* What was written last, by the CPU or by a master, whoever would see it. False where it cannot be read. */
bool n6virt_latest(uint32_t address, void *data, uint32_t bytes);

/* RIF (n6virt_rif.c): whether a master beside the CPU may access memory. */

#define N6VIRT_MASTER(name, number) N6VIRT_MASTER_##name = number,
typedef enum { N6VIRT_MASTERS(N6VIRT_MASTER) N6VIRT_MASTER_COUNT } N6VirtMaster;

/* The reason why it may not, or NULL. The NPU's own attributes as a peripheral are looked at, too. */
const char *n6virt_rif_objection(N6VirtMaster master, uint32_t address, uint32_t bytes, bool writes);

/* DMA controllers (n6virt_dma.c) */

/* A block asks for a transfer, by the number that a channel selects, or no longer does. */
void n6virt_dma_request(unsigned request, bool asks);

/* What a microphone hears (n6virt_audio.c) */

/* A sample, signed and with 24 bits, by its number since the microphone was first listened to; hz: samples a second. */
int32_t n6virt_audio_sample(uint64_t number, uint64_t hz);

/* The board's pins (n6virt_gpio.c) */

/* Whether a pin is in alternate mode with this function. port: address of its GPIO. */
bool n6virt_pin_is(uint32_t port, unsigned pin, unsigned alternate);
/* Why a part that is connected to some pins of a port hears nothing, or NULL; what: the part, for the text. */
const char *n6virt_wrong_pin(uint32_t port, uint32_t pins, unsigned alternate, const char *what);
/* 'E' of GPIOE; '?' */
char n6virt_port_letter(uint32_t port);

/* After an RCC reset of the NPU. */
void n6virt_npu_reset(void);
/* Memory as the NPU has it, with findings at pc that end with `when`: zeros, or nothing, where RIF keeps it out. False where it cannot
 * read or write. */
bool n6virt_npu_reads(uint32_t pc, uint32_t address, void *to, uint32_t bytes, const char *when);
bool n6virt_npu_writes(uint32_t pc, uint32_t address, const void *from, uint32_t bytes, const char *when);
/* The test NPU (n6virt_test_npu.c), by offset in the NPU's registers. */
bool n6virt_test_npu_is_at(uint32_t offset);
uint32_t n6virt_test_npu_read(uint32_t offset);
void n6virt_test_npu_write(uint32_t offset, uint32_t value);

/* The program is one that was built for this board; one from elsewhere may count on what is not known of the chip. */
bool n6virt_is_strict(void);
/* The boot ROM (n6virt_boot.c): starts what it finds in the NOR, or ends the emulator. */
void n6virt_boot(CPUState *cpu, const uint8_t *nor, uint32_t nor_bytes);
/* Of an image with its header, which says so; 0 where there is none in so much room. */
uint32_t n6virt_image_bytes(const uint8_t *header, uint32_t room);

/* XSPI1 and XSPI2 (n6virt_xspi.c), by their base */

/* What a controller puts on the lines before the data, in the layout of its registers CCR, TCR, IR and AR. */
typedef struct {
    uint32_t lines, timing, instruction, address;
    bool reads; /* data from the part */
} N6VirtFrame;

/* What is connected to one. Between begin and end, which may be NULL, it gives or takes bytes. */
typedef struct {
    void (*begin)(const N6VirtFrame *frame);
    uint8_t (*read)(void);
    void (*write)(uint8_t value);
    void (*end)(void);
    /* Guest time before which a status cannot change; NULL: at any. */
    int64_t (*ready_at)(void);
} N6VirtPart;

void n6virt_xspi_connect(uint32_t base, const N6VirtPart *part);
/* After an RCC reset of the controller. */
void n6virt_xspi_reset(uint32_t base);
/* Of the lines, in Hz; 0: does not run. */
uint64_t n6virt_xspi_hz(uint32_t base);
/* Of the part that the controller believes in: DCR1 DEVSIZE. */
uint64_t n6virt_xspi_part_bytes(uint32_t base);
/* Why an access to the window faults, or NULL. */
const char *n6virt_xspi_unmapped(uint32_t base);
/* The window was read. */
void n6virt_xspi_window_read(uint32_t base);

/* The NOR behind XSPI2 (n6virt_nor.c) */

/* NULL where there is none. */
const uint8_t *n6virt_nor_content(uint32_t *bytes);
bool n6virt_nor_uses_port(uint32_t port);

/* The PSRAM behind XSPI1, if the board has one (n6virt_psram.c) */

bool n6virt_psram_uses_port(uint32_t port);

/* The machine (stm32n6virt.c) */

/* Soon, between two instructions. reason: a flag of RCC HWRSR. */
void n6virt_system_reset(uint32_t reason);

void n6virt_add_io(MemoryRegion *region, MemoryRegion *parent, const MemoryRegionOps *ops, const char *name, uint64_t base,
                   uint64_t bytes, int priority);
/* What the Cortex-M's own registers are in. */
MemoryRegion *n6virt_processor_region(void);
/* An access to the system control space (0xE000E000) as QEMU's own model of it has it. */
MemTxResult n6virt_processor_read(uint32_t address, uint64_t *value, unsigned size, MemTxAttrs attributes);
MemTxResult n6virt_processor_write(uint32_t address, uint64_t value, unsigned size, MemTxAttrs attributes);
/* The Appli's image is in RAM as a whole, once its vector table is in use. */
void n6virt_check_appli_copy(void);
/* Where the CPU came from, when it is lost. */
uint32_t n6virt_caller(void);

#endif
