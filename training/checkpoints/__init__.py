"""Model files: their names and content, and loading and saving them with everything that belongs to them."""
