"""Early answers to calls with nothing to do; scons reads this before SConstruct.

n6build.engine knows such calls. Then scons need not read anything else.
"""

import sys as _sys

from n6build.engine.ask import answer as _answer
from n6build.engine.ask import tell as _tell

_told = _answer(_sys.argv)
if _told is not None and _tell(_told):
    _sys.exit(0)
