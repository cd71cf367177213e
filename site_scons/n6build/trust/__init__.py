"""Chain of trust: what is signed, with which key, and what the boards believe."""
