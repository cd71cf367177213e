"""Every board with every model, for daily builds: what came of each pair, against the last time."""
