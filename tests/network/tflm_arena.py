"""Size of the activation arena in TensorFlow Lite for Microcontrollers.

This is the arithmetic of its greedy planner, written from its description, and independent of the
placement that is compared with it. It takes tensors in the order of their size, the largest first,
and gives each the lowest offset that is free during its life. Sizes are multiples of 16 bytes. The
memory of its interpreter and its kernels is not counted.
"""

import math
from dataclasses import dataclass

from ai_edge_litert import schema_py_generated as schema

_ALIGNMENT = 16
_BYTES = {
    schema.TensorType.INT8: 1,
    schema.TensorType.UINT8: 1,
    schema.TensorType.INT16: 2,
    schema.TensorType.INT32: 4,
    schema.TensorType.FLOAT32: 4,
}


@dataclass
class _Life:
    bytes: int
    first: int
    last: int
    offset: int = 0


def arena_bytes(model: bytes) -> int:
    placed: list[_Life] = []
    for life in sorted(_lives(model), key=lambda life: -life.bytes):
        for other in sorted(placed, key=lambda each: each.offset):
            together = life.first <= other.last and other.first <= life.last
            if together and life.offset < other.offset + other.bytes and other.offset < life.offset + life.bytes:
                life.offset = other.offset + other.bytes
        placed.append(life)
    return max(life.offset + life.bytes for life in placed)


def _lives(model: bytes) -> list[_Life]:
    graph = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0)).subgraphs[0]
    lives: dict[int, _Life] = {}
    for index in map(int, graph.inputs):
        lives[index] = _Life(_size(graph.tensors[index]), 0, 0)
    for time, operator in enumerate(graph.operators):
        for index in map(int, operator.outputs):
            lives[index] = _Life(_size(graph.tensors[index]), time, time)
        for index in map(int, operator.inputs):
            if index in lives:
                lives[index].last = time
    for index in map(int, graph.outputs):
        lives[index].last = len(graph.operators)
    return list(lives.values())


def _size(tensor: schema.TensorT) -> int:
    return -(-math.prod(map(int, tensor.shape)) * _BYTES[tensor.type] // _ALIGNMENT) * _ALIGNMENT
