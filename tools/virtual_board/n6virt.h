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
uint64_t n6virt_oscillator_hz(uint32_t on_bit);
uint64_t n6virt_ic_hz(unsigned number);

/* Guest time (n6virt_time.c): an instruction is one unit, a tick of the CPU's clock. */

int64_t n6virt_now(void);
/* Executed so far, without what was slept. */
int64_t n6virt_instructions(void);
/* The console has said or heard a byte. */
void n6virt_not_silent(void);
/* Ends the emulator as a limit does. why: for the summary. */
void n6virt_end(const char *why);
void n6virt_start_time(void);

/* RAM (n6virt_ram.c) */

typedef struct {
    const char *name;
    uint32_t base, bytes;
    uint32_t enable;     /* bits of RCC MEMENR; 0: has its clock always */
    uint32_t ramcfg;     /* address of its RAMCFG CR; 0: cannot be shut down */
    bool on_after_reset; /* MEMENR */
    bool cacheable;
    MemoryRegion on, off, alias;
    uint8_t *cpu;    /* what the CPU sees */
    uint8_t *memory; /* what is behind its data cache; NULL if not cacheable */
    uint8_t *cleaned; /* by line */
} N6VirtRam;

/* What the chip has, and what stands behind an XSPI; on: whether it can be accessed now. */
N6VirtRam *n6virt_ram_at(uint32_t address);
bool n6virt_ram_is_on(const N6VirtRam *ram);
/* After a write to RCC MEMENR or a RAMCFG. */
void n6virt_ram_update(void);

/* The data cache (n6virt_cache.c), as masters other than the CPU notice it. */

/* What a bus master reads; counts stale lines, the first of which is *first. False where it cannot read. */
bool n6virt_master_read(uint32_t address, void *data, uint32_t bytes, uint32_t *stale, uint32_t *first);
/* What it writes: lines that the CPU has in its cache stay as they are. False where it cannot write. */
bool n6virt_master_write(uint32_t address, const void *data, uint32_t bytes);

/* The board's pins (n6virt_gpio.c) */

/* Whether a pin is in alternate mode with this function. port: address of its GPIO. */
bool n6virt_pin_is(uint32_t port, unsigned pin, unsigned alternate);
/* 'E' of GPIOE; '?' */
char n6virt_port_letter(uint32_t port);

/* RIF lets the NPU access memory. */
bool n6virt_npu_may_access(void);
/* After an RCC reset of the NPU. */
void n6virt_npu_reset(void);
/* The test NPU (n6virt_test_npu.c), by offset in the NPU's registers. */
bool n6virt_test_npu_is_at(uint32_t offset);
uint32_t n6virt_test_npu_read(uint32_t offset);
void n6virt_test_npu_write(uint32_t offset, uint32_t value);

/* The boot ROM (n6virt_boot.c): starts what it finds in the NOR, or ends the emulator. */
void n6virt_boot(CPUState *cpu, const uint8_t *nor, uint32_t nor_bytes);

/* XSPI2 and the NOR behind it */

/* The part that the board has, and the pins that it is on: properties of the machine. Opcodes are those of single-line mode. */
typedef struct {
    uint32_t jedec_id;
    uint32_t memory_type;    /* DCR1 MTYP, with which bytes arrive in their order */
    uint32_t second_byte;    /* of a command on eight lines: exclusive or with the opcode, 0xff or 0 */
    uint32_t read, read_str, read_dtr;
    uint32_t write_register, read_register;
    uint32_t mode_address, mode_spi, mode_str, mode_dtr;
    uint32_t dummy_address;
    char *dummy_cycles;      /* 20/18/16: by the value of the register */
    uint32_t port, pins, alternate;
} N6VirtNor;

extern N6VirtNor n6virt_nor;
/* After an RCC reset of the controller. */
void n6virt_xspi_reset(void);

typedef enum {
    N6VIRT_WINDOW_CLOSED, /* reads fault */
    N6VIRT_WINDOW_WRONG,  /* mapped, but not as the part is set: reads give ones */
    N6VIRT_WINDOW_SWAPPED, /* mapped, but the two bytes of each half-word change places */
    N6VIRT_WINDOW_OPEN,
} N6VirtWindow;

/* reason: why the window is not open. */
N6VirtWindow n6virt_xspi_window(const char **reason);

/* XSPI1 and the PSRAM behind it, if the board has one (n6virt_psram.c) */

/* After an RCC reset of the controller. */
void n6virt_psram_reset_controller(void);
bool n6virt_psram_uses_port(uint32_t port);
/* The CPU has cleaned the cache line of this address. */
void n6virt_psram_clean(uint32_t address);
/* For each line of the PSRAM whether it was cleaned; lines: how many. */
const uint8_t *n6virt_psram_cleaned(uint32_t *lines);

/* The machine (stm32n6virt.c) */

void n6virt_add_io(MemoryRegion *region, MemoryRegion *parent, const MemoryRegionOps *ops, const char *name, uint64_t base,
                   uint64_t bytes, int priority);
/* What the Cortex-M's own registers are in. */
MemoryRegion *n6virt_processor_region(void);
/* Opens or closes the window on the NOR: after every write to a register. */
void n6virt_update_window(void);
/* The Appli's image is in RAM as a whole, once its vector table is in use. */
void n6virt_check_appli_copy(void);
/* Where the CPU came from, when it is lost. */
uint32_t n6virt_caller(void);

#endif
