"""Access to a game behind a WebSocket: messages, client, process, and bridges as cars and engines."""
