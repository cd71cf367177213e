/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

/* The secure state only, without the MPU. The saved state of a task includes Helium's registers. */
#define configENABLE_TRUSTZONE 0
#define configRUN_FREERTOS_SECURE_ONLY 1
#define configENABLE_MPU 0
#define configENABLE_FPU 1
#define configENABLE_MVE 1

/* n6build starts a host program with the clocks of a reset; 600000000u with clock=nominal in the Makefile. */
#define configCPU_CLOCK_HZ 64000000u
#define configTICK_RATE_HZ 1000u
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configMAX_PRIORITIES 4
#define configMINIMAL_STACK_SIZE 256
#define configMAX_TASK_NAME_LEN 8
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 0
#define configTOTAL_HEAP_SIZE (32u * 1024u)
#define configCHECK_FOR_STACK_OVERFLOW 0
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (2u << 4)
#define configASSERT(holds) \
    do {                    \
        if (!(holds)) {     \
            for (;;) {      \
            }               \
        }                   \
    } while (0)

#define INCLUDE_vTaskDelete 1

#endif
