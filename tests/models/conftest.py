"""The models' own code (`models`, from the root) and the tests' helpers can be imported here."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
