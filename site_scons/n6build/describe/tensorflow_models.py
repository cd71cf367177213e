"""Commands that convert models of TensorFlow and Keras, which n6build cannot read."""

from __future__ import annotations

from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import is_file

_KERAS = (".h5", ".keras")


def refuse_tensorflow(path: Path, name: str) -> None:
    """Refuse a Keras file or a SavedModel with the commands that convert it.

    Args:
        path: File or folder.
        name: The path as the caller gave it.

    Raises:
        N6Error: N6-MODEL-002 if it is a model of TensorFlow.
    """
    saved = is_file(path / "saved_model.pb")
    if path.suffix not in _KERAS and not saved:
        return
    made = f"{path.stem}.tflite"
    convert = "tf.lite.TFLiteConverter.from_"
    if saved:
        convert += f"saved_model('{path.name}')"
    else:
        convert += f"keras_model(tf.keras.models.load_model('{path.name}', compile=False))"
    code = f"import tensorflow as tf; open('{made}', 'wb').write({convert}.convert())"
    # Keras 3 cannot load layers of older files; tf-keras can.
    legacy = "TF_USE_LEGACY_KERAS=1 " if path.suffix == ".h5" else ""
    hint = f'pip install tensorflow tf-keras, then {legacy}python -c "{code}"; pass model={made} samples=FOLDER'
    raise N6Error("N6-MODEL-002", "is a model of TensorFlow, which n6build does not read", where=name, hint=hint)
