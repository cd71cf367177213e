"""Blobs of backend neural_art, from calibration to the proof before flashing.

Blobs are calibrated, compiled, compared with the features seen of ST's compiler, and run in the
model of the NPU.
"""
