"""The NPU as programs drive it: blobs of the epoch controller, what a network uses of its units, traces."""
