"""The NPU as programs drive it: blobs, units that a network uses, traces."""
