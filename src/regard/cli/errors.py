"""What a verb raises when the command was wrong; the command line turns it into one line and exit code 2."""


class UsageError(Exception):
    """The command cannot be followed as it was written. The message names the value, the rule and the way out."""
