"""Training runs: options, plan, session, and what a run keeps on disk."""
