"""The pipeline: a module for each step, with its inputs, outputs and function.

`application` puts the steps in order.
"""
