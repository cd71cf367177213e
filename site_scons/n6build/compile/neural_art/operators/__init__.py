"""Operators of the NPU, one module each.

A module also has the reasons for which its operator stays on the CPU.
"""
