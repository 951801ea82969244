"""XLM-R as Hugging Face keeps it: RoBERTa's layout with the words of a hundred languages (Conneau 2020)."""

from regard.hub.tables.roberta import described, table

ENCODER = described("XLM-R", "xlm-roberta", "XLMRoberta", 30522)
TABLE = table(ENCODER)
