"""Report of a build, as a page, as text and as JSON.

It has memory, epochs, flash, checks, versions and rebuilt targets.
"""
