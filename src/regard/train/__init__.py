"""One loop that trains everything: a recipe gives it a `Task`, and gets back a run that can stop and go on anywhere."""
