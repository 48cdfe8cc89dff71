"""The engines against each other: whether they agree, and how fast they are."""
