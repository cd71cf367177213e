"""The file network_c_info.json, which describes a compiled network to programs.

It follows version 2.0 of ST's schema as far as its values are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from n6build.base.files import file_size
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.adjacent_pools import JoinedPool
from n6build.compile.reference.epochs import ELEMENT_BITS, Buffer, Epoch, Initializer, Network, Port
from n6build.compile.reference.graph import Quantisation
from n6build.compile.reference.liveness import ALIGNMENT
from n6build.compile.reference.placement import INITIALIZER_ALIGNMENT, Placement

SCHEMA_VERSION = "2.0"
FORMATS = {
    "int8": "STAI_FORMAT_S8",
    "uint8": "STAI_FORMAT_U8",
    "int16": "STAI_FORMAT_S16",
    "int32": "STAI_FORMAT_S32",
    "int64": "STAI_FORMAT_S64",
    "float32": "STAI_FORMAT_FLOAT",
    "float64": "STAI_FORMAT_FLOAT",
    "bool": "STAI_FORMAT_BOOL",
}
# The scale of latency in descriptors of pools is the reverse of that in this schema.
_LATENCY = {"LOW": "HIGH", "MID": "MID", "HIGH": "LOW"}


def c_info(
    network: Network,
    placement: Placement,
    pools: Sequence[MemoryPool],
    *,
    name: str,
    model: Path,
    tool: str,
    tool_version: str,
) -> dict[str, object]:
    """Return the content of network_c_info.json.

    Args:
        network: The compiled network.
        placement: Places of its buffers and initializers.
        pools: All memory pools of the profile.
        name: Name of the network.
        model: The model file.
        tool: Name of the compiler.
        tool_version: Version of the compiler.
    """
    views = {joined.pool.name: joined for joined in placement.joined}
    everything = [*pools, *(joined.pool for joined in placement.joined)]
    pool_ids = {pool.name: number for number, pool in enumerate(everything, 1)}
    names = [buffer.name for buffer in network.buffers] + [item.name for item in network.initializers]
    ids = {buffer: number for number, buffer in enumerate(names, 1)}
    buffers = [_buffer(buffer, placement, pool_ids, ids) for buffer in network.buffers]
    buffers += [_initializer(item, placement, pool_ids, ids, len(network.epochs)) for item in network.initializers]
    nodes = _nodes(network, ids)
    return {
        "json_schema_version": SCHEMA_VERSION,
        "environment": {
            "generated_model": {
                "name": name,
                "model_files": [
                    {"name": file, "signature": ""}
                    for file in (f"{name}.c", f"{name}_atonbuf.{placement.initializer_pool.fname}.raw")
                ],
                "n_params": sum(_elements(item) for item in network.initializers),
                "size": placement.initializer_bytes,
            },
            "tools": [
                {
                    "name": tool,
                    "version": tool_version,
                    "arguments": "",
                    "environment": [],
                    "input_model": {
                        "name": model.stem,
                        "type": model.suffix[1:],
                        "size": file_size(model),
                        # The digest is in the provenance. Here, each new weight would rebuild all that reads this file.
                        "model_files": [{"name": model.name, "signature": ""}],
                    },
                }
            ],
        },
        "memory_pools": [_pool(pool, placement, pool_ids, ids, views.get(pool.name)) for pool in everything],
        "buffers": buffers,
        "graphs": [
            {
                "id": 1,
                "name": name,
                "inputs": [ids[port.buffer] for port in network.inputs],
                "outputs": [ids[port.buffer] for port in network.outputs],
                "nodes": nodes,
                "edges": _edges(network, nodes, ids),
                "original_inputs": [_original(port) for port in network.inputs],
                "original_outputs": [_original(port) for port in network.outputs],
            }
        ],
        "memory_footprint": {
            "activations": placement.peak,
            "weights": placement.initializer_bytes,
            "io": [sum(port.tensor.bytes for port in ports) for ports in (network.inputs, network.outputs)],
            "series": "stm32n6npu",
        },
    }


def _elements(initializer: Initializer) -> int:
    return len(initializer.data) // (ELEMENT_BITS[initializer.dtype] // 8)


def _pool(
    pool: MemoryPool,
    placement: Placement,
    pool_ids: dict[str, int],
    ids: dict[str, int],
    view: JoinedPool | None,
) -> dict[str, Any]:
    """Return the entry of a memory pool.

    A concrete pool counts its share of buffers that cross its border. `view` is the joined pool, or
    None for a concrete pool.
    """
    return {
        "id": pool_ids[pool.name],
        "name": pool.name,
        "fname": "" if view else f"atonbuf.{pool.fname}.raw",
        "address": str(pool.address) if pool.mode == "USEMODE_ABSOLUTE" else None,
        "offset_start": 0,
        "alignment": ALIGNMENT,
        "size_bytes": pool.size,
        "used_size_bytes": placement.used_bytes(pool),
        "rights": pool.rights,
        "cacheable": "CACHEABLE_ON" if pool.cacheable else "CACHEABLE_OFF",
        "user_allocated": False,
        "subpools": [pool_ids[part.name] for part in view.parts] if view else [],
        "buffers": [ids[name] for name, place in placement.places.items() if place.pool is pool],
        "attributes": {
            "throughput": pool.throughput,
            "latency": _LATENCY[pool.latency],
            "byte_width": pool.byte_width,
            "freq_ratio": pool.freq_ratio,
            "read_power": pool.read_power,
            "write_power": pool.write_power,
            "use_for_initrs": pool.use_for_initializers,
        },
    }


def _quantisation(quantisation: Quantisation | None) -> dict[str, Any]:
    if quantisation is None:
        return {}
    axis = quantisation.axis if len(quantisation.scales) > 1 else -1
    return {
        "intq": {"axis": axis, "scales": list(quantisation.scales), "offsets": list(quantisation.zero_points)},
    }


def _buffer(buffer: Buffer, placement: Placement, pool_ids: dict[str, int], ids: dict[str, int]) -> dict[str, Any]:
    place = placement.places[buffer.name]
    tensor = buffer.tensor
    dtype = tensor.dtype if tensor else "int8"
    return {
        "id": ids[buffer.name],
        "name": buffer.name,
        "mpool_id": pool_ids[place.pool.name],
        "offset_start": place.offset,
        "size_bytes": place.bytes,
        "alignment": ALIGNMENT,
        "is_param": False,
        "epochs": {"start": buffer.first, "end": buffer.last},
        "shape": list(tensor.shape) if tensor else [buffer.bytes],
        "channel_first": False,
        "channel_last": tensor is not None,
        "batch": 1,
        "format": FORMATS[dtype],
        "nbits": ELEMENT_BITS[dtype],
        **_quantisation(tensor.quantisation if tensor else None),
    }


def _initializer(
    item: Initializer, placement: Placement, pool_ids: dict[str, int], ids: dict[str, int], last_epoch: int
) -> dict[str, Any]:
    place = placement.places[item.name]
    return {
        "id": ids[item.name],
        "name": item.name,
        "mpool_id": pool_ids[place.pool.name],
        "offset_start": place.offset,
        "size_bytes": place.bytes,
        "alignment": INITIALIZER_ALIGNMENT,
        "is_param": True,
        "epochs": {"start": 0, "end": last_epoch},
        "shape": list(item.shape),
        "batch": 1,
        "format": FORMATS[item.dtype],
        "nbits": ELEMENT_BITS[item.dtype],
        **_quantisation(item.quantisation),
    }


def _nodes(network: Network, ids: dict[str, int]) -> list[dict[str, Any]]:
    nodes = []
    for number, epoch in enumerate(network.epochs):
        inputs = [ids[name] for name in (*epoch.inputs, *epoch.initializers)]
        common = {
            "macc": epoch.macs,
            "mapping": "NODE_SW" if epoch.kernel else "NODE_HW",
            "inputs": inputs,
            "outputs": [ids[output] for output in (epoch.output, *epoch.more_outputs)],
            "scratchs": [ids[epoch.scratch.name]] if epoch.scratch else [],
            "original_nodes": [str(operator) for operator in epoch.operators],
            "sw_functions": [f"n6k_{epoch.kernel}"] if epoch.kernel else [],
        }
        nodes.append(
            {
                "id": 2 * number + 1,
                "name": f"epoch_{epoch.index}",
                "description": "",
                **common,
                "subgraph_nodes": [
                    {
                        "id": 2 * number + 2,
                        "name": epoch.node,
                        "description": f"Node kind={epoch.kind}",
                        **common,
                        "subgraph_nodes": [],
                    }
                ],
            }
        )
    return nodes


def _edges(network: Network, nodes: Sequence[dict[str, Any]], ids: dict[str, int]) -> list[dict[str, Any]]:
    """Return an edge from the epoch that makes a buffer to each epoch that reads it."""
    makers: dict[str, tuple[Epoch, int]] = {
        output: (epoch, node["id"])
        for epoch, node in zip(network.epochs, nodes, strict=True)
        for output in (epoch.output, *epoch.more_outputs)
    }
    edges: list[dict[str, Any]] = []
    for epoch, node in zip(network.epochs, nodes, strict=True):
        for port, name in enumerate(epoch.inputs):
            if name in makers:
                maker, maker_id = makers[name]
                edges.append(
                    {
                        "id": len(edges) + 1,
                        "name": f"epochdep_{maker.index}_{epoch.index}",
                        "edge_kind": "EDGE_FLOW",
                        "buffer": ids[name],
                        "start": {"node_id": maker_id, "port": 0},
                        "end": {"node_id": node["id"], "port": port},
                    }
                )
    return edges


def _original(port: Port) -> dict[str, Any]:
    """Return the entry of an input or output of the model.

    A float tensor has no quantizer.
    """
    tensor = port.tensor
    types = {"uint8": "UNSIGNED", "bool": "UNSIGNED", "float32": "FLOAT"}
    data_format: dict[str, Any] = {"type": types.get(tensor.dtype, "SIGNED"), "size": ELEMENT_BITS[tensor.dtype]}
    if tensor.quantisation:
        data_format["quantizer"] = "UNIFORM"
        data_format["scale"] = list(tensor.quantisation.scales)
        data_format["zero"] = list(tensor.quantisation.zero_points)
    return {"name": tensor.name, "shape": list(tensor.shape), "data_format": data_format}
