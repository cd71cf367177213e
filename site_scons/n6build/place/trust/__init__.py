"""Chain of trust: signed images, their keys, and the keys that boards accept."""
