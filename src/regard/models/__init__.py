"""One file, one paper. The folder is the registry: `regard.models.family` finds whatever lies here."""
