"""Stage 2: a compiled network as a relocatable model for installation at run time."""
