"""Every form of every word, derived from the rows of the lexicon once, when a language is first used."""
