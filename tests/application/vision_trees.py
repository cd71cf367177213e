"""Small projects like ST's getting-started applications for pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from adopt.trees import put, with_network, with_runtime
from one_op_models import Quantisation, Tensor, code_of, model_of, operator_of, packed

NAME = "STM32N6570-DK"
APPLICATION = f"Application/{NAME}"
MAKEFILE = """\
TARGET = Project
BUILD_DIR = build
MODEL_DIR = ../../Model
LL_ATON = ../../Middlewares/AI_Runtime/Npu/ll_aton
C_SOURCES = Src/main.c $(wildcard Src/app_*.c)
C_SOURCES += $(MODEL_DIR)/network.c
CC = $(GCC_PATH)/arm-none-eabi-gcc
MCU = -mcpu=cortex-m55 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard
CFLAGS = $(MCU) -Os -g -Wall -IInc -I$(LL_ATON) -I$(LL_ATON)/../Devices/STM32N6XX -fcyclomatic-complexity -std=gnu11
CFLAGS += -MMD -MP -MF"$(@:%.o=%.d)"
OBJECTS = $(addprefix $(BUILD_DIR)/,$(notdir $(C_SOURCES:.c=.o)))
vpath %.c $(sort $(dir $(C_SOURCES)))

all: $(BUILD_DIR)/$(TARGET).elf

$(BUILD_DIR)/%.o: %.c Makefile
\t@mkdir -p $(dir $@)
\t$(CC) -c $(CFLAGS) $< -o $@

$(BUILD_DIR)/$(TARGET).elf: $(OBJECTS) Makefile
\t$(CC) $(OBJECTS) $(MCU) -nostartfiles -specs=nano.specs -Tapp.ld -lc -lnosys -o $@

-include $(wildcard $(BUILD_DIR)/*.d)
"""
LINKER_SCRIPT = """\
ENTRY(Reset_Handler)
MEMORY { ROM (xrw) : ORIGIN = 0x34000400, LENGTH = 511K  RAM (xrw) : ORIGIN = 0x34080000, LENGTH = 512K }
_estack = ORIGIN(RAM) + LENGTH(RAM);
SECTIONS
{
  .isr_vector : { KEEP(*(.isr_vector)) } > ROM
  .text : { *(.text*) *(.rodata*) } > ROM
  .ARM : { *(.ARM*) } > ROM
  .data : { *(.data*) } > ROM
  .bss (NOLOAD) : { *(.bss*) *(COMMON) } > RAM
}
"""
MAIN = """\
#include "app_config.h"
#include "app_postprocess.h"
#include "ll_aton_NN_interface.h"
#include "ll_aton_caches_interface.h"

#ifndef AI_OD_YOLOV8_PP_CONF_THRESHOLD
#define AI_OD_YOLOV8_PP_CONF_THRESHOLD AI_OBJDETECT_YOLOV8_PP_CONF_THRESHOLD * 2
#endif

CLASSES_TABLE;
extern unsigned char _estack[];
void Reset_Handler(void);
const EpochBlock_ItemTypeDef *LL_ATON_EpochBlockItems_Default(void);
const float classes[] = { NN_WIDTH, NN_HEIGHT, AI_OD_YOLOV8_PP_CONF_THRESHOLD };

__attribute__((section(".isr_vector"), used)) static const void *const vectors[16] = { _estack, Reset_Handler };

void LL_ATON_Cache_MCU_Clean_Range(uintptr_t address, uint32_t size)
{
}

void LL_ATON_Cache_MCU_Clean_Invalidate_Range(uintptr_t address, uint32_t size)
{
}

void Reset_Handler(void)
{
    const EpochBlock_ItemTypeDef *block = LL_ATON_EpochBlockItems_Default();
    for (; (block->flags & EpochBlock_Flags_last_eb) == 0; block++) {
        block->end_epoch_block(block, 0);
    }
    while (classes_table[0] != 0 && classes[0] > 0) {
    }
}
"""
DECODERS = """\
#define POSTPROCESS_OD_YOLO_V8_UF (12) /* floats */
#define POSTPROCESS_OD_YOLO_V8_UI (13) /* integers */
#if POSTPROCESS_TYPE != POSTPROCESS_OD_YOLO_V8_UF && POSTPROCESS_TYPE != POSTPROCESS_OD_YOLO_V8_UI
#error "post-processing not supported"
#endif
"""
CONFIG = """\
#ifndef APP_CONFIG
#define APP_CONFIG
#define POSTPROCESS_TYPE POSTPROCESS_OD_YOLO_V8_UF
#define NN_WIDTH (480)
#define CAMERA_FLIP CMW_MIRRORFLIP_NONE
#endif
"""


def network_of_boxes() -> bytes:
    """Return a model whose picture is its boxes, as a YOLOv8 has them."""
    shape, made = (1, 5, 16, 3), (1, 5, 48)
    signed = Quantisation(1 / 255, -128)
    tree = model_of(
        [
            Tensor("picture", shape, np.uint8, Quantisation(1 / 255, 0)),
            Tensor("signed", shape, np.int8, signed),
            Tensor("shape", (3,), np.int32, None, np.array(made, np.int32)),
            Tensor("reshaped", made, np.int8, signed),
            Tensor("boxes", made, np.float32),
        ]
    )
    tree.operatorCodes = [code_of("QUANTIZE", 2), code_of("RESHAPE", 1), code_of("DEQUANTIZE", 2)]
    (graph,) = tree.subgraphs
    graph.inputs, graph.outputs = [0], [4]
    graph.operators = [
        operator_of(0, [0], [1], "Quantize"),
        operator_of(1, [1, 2], [3], "Reshape", newShape=list(made)),
        operator_of(2, [3], [4], "Dequantize"),
    ]
    return packed(tree)


def make_vision_project(root: Path) -> Path:
    """Write a project that links a network named Default, and return its root."""
    with_runtime(root)
    with_network(root / "Model")
    network = root / "Model/network.c"
    network.write_text(network.read_text().replace("EpochBlockItems_od", "EpochBlockItems_Default"))
    folder = root / APPLICATION
    put(folder / "Makefile", MAKEFILE)
    put(folder / "app.ld", LINKER_SCRIPT)
    put(folder / "Src/main.c", MAIN)
    put(folder / "Src/app_logo.c", "extern int logo;\nint logo = 1;\n")
    put(folder / "Inc/app_config.h", CONFIG)
    put(folder / "Inc/app_postprocess.h", DECODERS)
    put(root / "README.md", "# A project\n")
    return root
