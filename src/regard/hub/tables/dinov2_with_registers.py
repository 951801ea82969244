"""DINOv2 with registers as Hugging Face keeps it (Darcet 2024)."""

from regard.hub.tables import dinov2, vit
from regard.hub.tables.picture import task_by_classes
from regard.hub.tables.rules import same
from regard.hub.tables.table import Table
from regard.models.vit import FAMILY

_PREFIX = "dinov2_with_registers"
_SIZES = dinov2.SIZES | {"patch": ("patch_size", 16), "registers": ("num_register_tokens", 4)}

PICTURE = dinov2.picture("DINOv2 with registers", _PREFIX, "Dinov2WithRegisters", _SIZES)

TABLE = Table(
    _PREFIX,
    FAMILY,
    (*dinov2.rules(_PREFIX), same(f"{_PREFIX}.embeddings.register_tokens", "registers")),
    lambda given, _: dinov2.config(PICTURE, given),
    lambda given, tokenizer: dinov2.to_json(PICTURE, given, tokenizer),
    lambda _, found: found,
    task_by_classes,
    lambda _: vit.unused(_PREFIX),
    prefix=f"{_PREFIX}.",
    fits=lambda config: dinov2.fits(config, registers=True),
)
