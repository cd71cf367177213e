"""Train miniresnet on synthetic audio events.

Usage, from the root: `python -m models.miniresnet.train [out.tflite]`.
"""

import sys
from pathlib import Path

import keras
from keras import layers

from models import audio_events
from models.splits import TRAIN, clips
from models.to_int8 import make_repeatable, to_int8

CLIPS, EPOCHS, BATCH = 6000, 14, 50
WIDTH = 64


def _convolution(x: keras.KerasTensor, kernel: int, stride: int = 1, relu: bool = True) -> keras.KerasTensor:
    x = layers.Conv2D(WIDTH, kernel, stride, "same", kernel_regularizer=keras.regularizers.L2(1e-4))(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x) if relu else x


def network(batch: int | None) -> keras.Model:
    """Return a residual network of one stack.

    The stack has two blocks of 64 channels behind a 7 x 7 stem.

    Args:
        batch: Batch size of the input; None for training, with any batch size and with dropout.
    """
    image = keras.Input(audio_events.SHAPE, batch_size=batch)
    x = layers.ZeroPadding2D(3)(image)
    x = layers.Conv2D(WIDTH, 7, 2, kernel_regularizer=keras.regularizers.L2(1e-4))(x)
    x = layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))
    x = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(x))
    for stride in (2, 1):
        shortcut = _convolution(x, 1, stride, relu=False) if stride == 2 else x
        x = _convolution(_convolution(x, 1, stride), 3)
        x = layers.ReLU()(layers.Add()([shortcut, x]))
    x = layers.Flatten()(x)
    if batch is None:
        x = layers.Dropout(0.4)(x)
    return keras.Model(image, layers.Dense(len(audio_events.CLASSES), activation="softmax")(x))


def main(out: Path) -> None:
    make_repeatable(seed=1)
    features, labels = clips(audio_events, TRAIN, CLIPS)
    trained = network(batch=None)
    steps = EPOCHS * CLIPS // BATCH
    rate = keras.optimizers.schedules.CosineDecay(2e-3, steps)
    # Smoothed targets keep the outputs between 0 and 1. If all were 0 or 1, comparing them would show little.
    loss = keras.losses.CategoricalCrossentropy(label_smoothing=0.1)
    trained.compile(keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
    trained.fit(features, keras.utils.to_categorical(labels), BATCH, EPOCHS, verbose=2)

    deployed = network(batch=1)
    deployed.set_weights(trained.get_weights())
    out.write_bytes(to_int8(deployed, features[:500], float_output=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("miniresnet.tflite"))
