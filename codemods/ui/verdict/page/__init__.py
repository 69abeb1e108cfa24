"""The pieces of the page that `verdict_html` puts together: markup, the change, the graphs, the plots, the places."""
