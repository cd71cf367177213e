"""Modules that every stage uses, without knowledge of neural networks or chips.

Start with `errors` (the one family of errors), `files` (all reading and writing, noted in `uses`),
`yaml_schema` and `bounded` (data of others), and `console`.
"""
