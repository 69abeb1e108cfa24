"""Where the work is done: on this machine, or on a cluster that is there already."""
