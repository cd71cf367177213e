"""Blobs of backend neural_art: calibrated, compiled, compared with what was seen of ST's compiler, and run in the model of the
NPU before anything is flashed."""
