"""Stage 2: a compiled network as a relocatable model, which a firmware installs at run time."""
