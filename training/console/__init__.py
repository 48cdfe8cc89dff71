"""The command line: arguments, messages, bridges, tracks, warm-up and interruption."""
