"""Matrix of every board with every model, for daily builds.

The result of each pair is compared with the last one.
"""
