"""The pipeline: one module a step, with what goes in, what comes out and what makes it; `application` puts them in order."""
