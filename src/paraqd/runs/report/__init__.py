"""Write an HTML report on scored pairs: one file with a summary, plots and all pairs."""
