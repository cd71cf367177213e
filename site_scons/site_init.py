"""Read by scons before SConstruct: where there is nothing to do, which n6build.front knows, there is nothing to read either."""

import sys as _sys

from n6build.front.ask import answer as _answer
from n6build.front.ask import tell as _tell

_told = _answer(_sys.argv)
if _told is not None and _tell(_told):
    _sys.exit(0)
