/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls of newlib, for ST's runtime: it prints if it is compiled without NDEBUG, and calls abort if an assertion fails.
 * There are no files; text goes to the console. All functions are weak: a program may replace any of them.
 */
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_st_runtime.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define HEAP_BYTES 4096

int _write(int file, const char *data, int length);
int _read(int file, char *data, int length);
int _close(int file);
int _fstat(int file, struct stat *status);
int _isatty(int file);
off_t _lseek(int file, off_t offset, int whence);
void *_sbrk(ptrdiff_t increment);
int _getpid(void);
int _kill(int process, int signal);
void _exit(int status) __attribute__((noreturn));

const char n6_system_calls[] = "";

N6_WEAK int _write(int file, const char *data, int length)
{
    (void)file;
    for (int i = 0; i < length; i++) {
        n6_put_byte((uint8_t)data[i]);
    }
    return length;
}

N6_WEAK int _read(int file, char *data, int length)
{
    (void)file;
    (void)data;
    (void)length;
    return 0;
}

N6_WEAK int _close(int file)
{
    (void)file;
    return -1;
}

N6_WEAK int _fstat(int file, struct stat *status)
{
    (void)file;
    status->st_mode = S_IFCHR;
    return 0;
}

N6_WEAK int _isatty(int file)
{
    (void)file;
    return 1;
}

N6_WEAK off_t _lseek(int file, off_t offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    return 0;
}

/* Allocate memory for stdio only, which faults without it. */
N6_WEAK void *_sbrk(ptrdiff_t increment)
{
    static char heap[HEAP_BYTES] __attribute__((aligned(8)));
    static char *end = heap;
    char *start = end;
    if (increment > heap + HEAP_BYTES - end || increment < heap - end) {
        errno = ENOMEM;
        return (void *)-1;
    }
    end += increment;
    return start;
}

N6_WEAK int _getpid(void)
{
    return 1;
}

/* Reject a signal. abort raises one first. */
N6_WEAK int _kill(int process, int signal)
{
    (void)process;
    (void)signal;
    errno = EINVAL;
    return -1;
}

/* Fault, so that the fault handler prints the address. */
N6_WEAK void _exit(int status)
{
    (void)status;
    __builtin_trap();
}
