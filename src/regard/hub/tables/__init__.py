"""Other people's checkpoints as data, one file a kind: rules that load and save, and a config both ways."""

from regard.hub.tables.table import Table, table, tables

__all__ = ["Table", "table", "tables"]
