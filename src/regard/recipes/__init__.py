"""One runnable experiment per file; the folder is the list that `regard train` shows."""
