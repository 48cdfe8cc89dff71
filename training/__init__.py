"""Scripts that train, measure and export a driver, and the code they share."""
