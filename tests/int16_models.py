"""Models of one operator with int16 activations.

Weights are int8, biases int64. Zero points are 0.
"""

from functools import partial

import elementwise_models
import numpy as np
import one_op_models as ops

convolution = partial(ops.convolution, dtype=np.int16)
fully_connected = partial(ops.fully_connected, dtype=np.int16)
pool_2d = partial(ops.pool_2d, dtype=np.int16)
softmax = partial(ops.softmax, dtype=np.int16)
unary = partial(elementwise_models.unary, dtype=np.int16)
binary = partial(elementwise_models.binary, dtype=np.int16)
