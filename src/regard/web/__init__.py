"""The explorer: a local server, and the page that it serves."""
