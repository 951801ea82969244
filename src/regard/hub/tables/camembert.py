"""CamemBERT as Hugging Face keeps it: RoBERTa's layout with French words (Martin 2020)."""

from regard.hub.tables.roberta import described, table

ENCODER = described("CamemBERT", "camembert", "Camembert", 30522)
TABLE = table(ENCODER)
