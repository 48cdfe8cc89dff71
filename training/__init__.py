"""Scripts that train, measure and ship a driver, and what they share."""
