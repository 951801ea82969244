"""Position encodings of the cells of a picture, as vectors for a row of tokens some of which have no place.

Each is called with the rows and columns of a map, and gives one vector for each leading token and then for each cell.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.layers.position.table import interpolate
from regard.layers.position.wave import PAIRS_2D, check_width, grid_waves, sinusoid


class LearnedCells(nn.Module):
    """A learned vector for each leading token and each cell; maps of other sizes interpolate (Dosovitskiy 2021, §3.2).

    If `full`, each cell has a vector of its own; else one for its row lies beside one for its column (appendix D.4).
    """

    def __init__(self, rows: int, columns: int, width: int, *, leading: int = 0, full: bool = True) -> None:
        super().__init__()
        self.rows, self.columns, self.leading, self.full = rows, columns, leading, full
        if full:
            self.table = nn.Parameter(torch.randn(leading + rows * columns, width) * 0.02)
        else:
            check_width(width, 2, "halves for rows and for columns")
            self.first = nn.Parameter(torch.randn(leading, width) * 0.02)
            self.down = nn.Parameter(torch.randn(rows, width // 2) * 0.02)
            self.across = nn.Parameter(torch.randn(columns, width // 2) * 0.02)

    def forward(self, rows: int, columns: int) -> Float[Tensor, "n w"]:
        if self.full:
            if (rows, columns) == (self.rows, self.columns):
                return self.table
            first, cells = self.table[: self.leading], self.table[self.leading :]
            cells = torch.unflatten(cells, 0, (self.rows, self.columns))
        else:
            down = self.down[:, None].expand(-1, self.columns, -1)
            across = self.across[None].expand(self.rows, -1, -1)
            first, cells = self.first, torch.cat((down, across), dim=-1)
        return torch.cat((first, interpolate(cells, rows, columns).flatten(0, 1)))


class WaveCells(nn.Module):
    """Fixed sines and cosines: of a token's number in reading order, or of a cell's row and column (`flat=False`).

    Leading tokens stand in front of the first cell in reading order; they have no row and no column, and get zeros.
    """

    def __init__(self, width: int, *, leading: int = 0, flat: bool = False) -> None:
        super().__init__()
        if not flat:
            check_width(width, 4, PAIRS_2D)
        self.width, self.leading, self.flat = width, leading, flat

    def forward(self, rows: int, columns: int) -> Float[Tensor, "n w"]:
        if self.flat:
            return sinusoid(torch.arange(self.leading + rows * columns), self.width)
        cells = grid_waves(torch.arange(rows), torch.arange(columns), self.width, 10000.0).flatten(0, 1)
        return torch.cat((cells.new_zeros(self.leading, self.width), cells)).to(torch.get_default_dtype())
