"""Model files: their names, what is in them, loading and saving them with everything that belongs to them."""
