"""The reference interpreters of models, and how far a result is from theirs."""
