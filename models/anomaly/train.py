"""Train anomaly on the hum of machines without a fault.

Usage, from the root: `python -m models.anomaly.train [out.tflite]`.
"""

import sys
from pathlib import Path

import keras
from keras import layers

from models import machine_hum
from models.splits import TRAIN, clips
from models.to_int8 import make_repeatable, to_int8

CLIPS, EPOCHS, BATCH = 16_000, 30, 128


def network(batch: int | None) -> keras.Model:
    """Return an autoencoder of fully connected layers: 640, 4 x 128, 8, 4 x 128, 640.

    Args:
        batch: Batch size of the input; None for training, with any batch size.
    """
    spectra = x = keras.Input(machine_hum.SHAPE, batch_size=batch)
    for width in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x = layers.Dense(width)(x)
        x = layers.ReLU()(layers.BatchNormalization(momentum=0.9)(x))
    return keras.Model(spectra, layers.Dense(*machine_hum.SHAPE)(x))


def main(out: Path) -> None:
    make_repeatable(seed=1)
    features, _ = clips(machine_hum, TRAIN, CLIPS)
    trained = network(batch=None)
    steps = EPOCHS * CLIPS // BATCH
    trained.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, steps)), "mse")
    trained.fit(features, features, BATCH, EPOCHS, verbose=2)

    deployed = network(batch=1)
    deployed.set_weights(trained.get_weights())
    out.write_bytes(to_int8(deployed, features[:500]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("anomaly.tflite"))
