"""Decoders of outputs: boxes, points, classes and areas that a network has found."""
