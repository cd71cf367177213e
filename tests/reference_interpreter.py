"""The reference interpreter: LiteRT's reference resolver.

Results are compared with it, and the kernels copy its rounding.
"""

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray


def load(model: bytes, preserve_all_tensors: bool = False) -> Interpreter:
    """Return an allocated interpreter with the reference resolver.

    Other resolvers round differently. ELU is only in the other one, where it is a table.
    """

    def made(resolver: OpResolverType) -> Interpreter:
        return Interpreter(
            model_content=model,
            experimental_op_resolver_type=resolver,
            experimental_preserve_all_tensors=preserve_all_tensors,
            num_threads=1,
        )

    try:
        interpreter = made(OpResolverType.BUILTIN_REF)
    except ValueError as error:
        if "'ELU'" not in str(error):
            raise
        interpreter = made(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    return interpreter


def outputs(model: bytes, *inputs: NDArray[np.generic]) -> list[NDArray[np.generic]]:
    """Return every output of the model for these inputs, in the model's order.

    The inputs are reshaped to the model's shapes.
    """
    interpreter = load(model)
    for detail, values in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], values.reshape(detail["shape"]))
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
