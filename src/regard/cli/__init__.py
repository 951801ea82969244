"""The command line: each verb is one file of this folder, and the folder is the list."""
