"""What a model of pictures saw in one: where each head looks from a place, what decides, features as colours, groups.

Everything is a plain function of a reading, of the pipeline that made it where the model has to run again, and of
options; `see` calls them by name. Answers are JSON with packed numbers, row by row.
"""

from regard.web.see.analyses import OF_READING, How, see
from regard.web.see.asked import Asked, Options

__all__ = ["OF_READING", "Asked", "How", "Options", "see"]
