"""The soak: thousands of cases of what may go wrong around the code, drawn from a seed; see ``docs/soak.md``."""
