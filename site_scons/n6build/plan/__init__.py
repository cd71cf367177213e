"""Steps as values, their signatures, and the plan that they make up.

This package knows nothing of networks or boards.
"""
