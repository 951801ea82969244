"""What is raised when data cannot be had as promised."""


class DataError(Exception):
    """A file is missing, cut short, damaged or unreadable. The message says which, where, and what to do."""
