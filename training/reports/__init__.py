"""Reading back what a run has logged, as one page."""
