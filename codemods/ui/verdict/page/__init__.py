"""What the templates of the proof page show, as plain values: the change, the graphs, the plots, the places."""
