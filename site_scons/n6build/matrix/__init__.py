"""Every board with every model, for daily builds: the result of each pair, compared with the last time."""
