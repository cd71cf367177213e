"""Reference interpreters of models, and the distance of a result from theirs."""
