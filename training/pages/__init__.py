"""Pages for a browser: drivers and tracks in a folder that any web server shows."""
