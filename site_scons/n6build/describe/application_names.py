"""Post-processing of ST's applications, by its names.

The options need no more of key `application`, whose schema loads the library for YAML.
"""

from __future__ import annotations

from typing import Literal, get_args

PostProcess = Literal[
    "none",
    "od_st_ssd_uf",
    "od_ssd_uf",
    "od_yolo_v2_uf",
    "od_yolo_v5_uu",
    "od_yolo_v8_uf",
    "od_yolo_v8_ui",
    "od_st_yolox_uf",
    "od_st_yolox_ui",
    "od_blazeface_uf",
    "od_blazeface_uu",
    "mpe_yolo_v8_uf",
    "mpe_yolo_v8_ui",
    "spe_movenet_uf",
    "spe_movenet_ui",
    "iseg_yolo_v8_ui",
    "sseg_deeplab_v3_uf",
    "sseg_deeplab_v3_ui",
]
# Names without the types of input and output, which follow from the network, and those with them.
APPLICATIONS = tuple(
    sorted({name.rpartition("_")[0] for name in get_args(PostProcess) if name != "none"} | {*get_args(PostProcess)})
)
APPLICATION_HELP = (
    "post-processing of ST's applications for app_config.h, with or without the types of input and output: od_yolo_v8 or "
    "od_yolo_v8_uf; default: that of model.yaml"
)
