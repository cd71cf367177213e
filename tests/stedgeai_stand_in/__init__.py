"""An executable in the place of ST's compiler: it replays what the real one prints and writes, release by release."""
