"""Benchmarks of n6build, which tools/bench.py runs by name."""
