"""Backend neural_art: a model -> epochs of the NPU. Experimental: nothing that it makes has run on silicon."""
