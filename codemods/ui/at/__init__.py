"""`fullgraph at`: what there is at one place of a file, for editors that call a script."""
