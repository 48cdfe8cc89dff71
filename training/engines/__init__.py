"""The engines compared: whether they agree, and how fast they are."""
