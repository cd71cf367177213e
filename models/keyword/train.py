"""Train keyword on synthetic words.

Usage, from the root: `python -m models.keyword.train [out.tflite]`.
"""

import sys
from pathlib import Path

import keras
from keras import layers

from models import spoken_words
from models.splits import TRAIN, clips
from models.to_int8 import make_repeatable, to_int8

CLIPS, EPOCHS, BATCH = 9600, 15, 60
WIDTH = 64


def network(batch: int | None) -> keras.Model:
    """Return a network of depthwise-separable convolutions (DS-CNN).

    It has a convolution and four depthwise-separable blocks, all of 64 channels.

    Args:
        batch: Batch size of the input; None for training, with any batch size and with dropout.
    """
    image = keras.Input(spoken_words.SHAPE, batch_size=batch)
    x = layers.Conv2D(WIDTH, (10, 4), 2, "same")(image)
    x = layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))
    for _ in range(4):
        x = layers.DepthwiseConv2D(3, padding="same")(x)
        x = layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))
        x = layers.Conv2D(WIDTH, 1)(x)
        x = layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))
    if batch is None:
        x = layers.Dropout(0.2)(x)
    x = layers.Flatten()(layers.AveragePooling2D(tuple(x.shape[1:3]))(x))
    return keras.Model(image, layers.Dense(len(spoken_words.CLASSES), activation="softmax")(x))


def main(out: Path) -> None:
    make_repeatable(seed=1)
    features, labels = clips(spoken_words, TRAIN, CLIPS)
    trained = network(batch=None)
    steps = EPOCHS * CLIPS // BATCH
    rate = keras.optimizers.schedules.CosineDecay(3e-3, steps)
    # Smoothed targets keep the outputs between 0 and 1. If all were 0 or 1, comparing them would show little.
    loss = keras.losses.CategoricalCrossentropy(label_smoothing=0.1)
    trained.compile(keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
    trained.fit(features, keras.utils.to_categorical(labels), BATCH, EPOCHS, verbose=2)

    deployed = network(batch=1)
    deployed.set_weights(trained.get_weights())
    out.write_bytes(to_int8(deployed, features[:600]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("keyword.tflite"))
