"""The words of each language: one row per word with what is needed to inflect it."""
