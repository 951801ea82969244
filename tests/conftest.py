"""Every shape written in a signature is checked while the tests run."""

import os
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
import torch
from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("regard", "beartype.beartype")

# The machine is noisy, so no test fails for being slow; the same examples every time, so a failure can be met again.
settings.register_profile("regard", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("regard")

torch.set_num_threads(1)  # the workers share the cores among themselves


@pytest.fixture
def as_users_meet_it() -> Iterator[None]:
    """No checks of the types, which users do not have: here the library must speak for itself."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True)
def _same_numbers_every_time() -> None:
    torch.manual_seed(0)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the named sets, where they are at hand; in CI they must be."""
    beside = Path(__file__).parents[1] / "../shared/data"
    if not os.environ.get("REGARD_DATA"):
        if not beside.is_dir() and not os.environ.get("CI"):
            pytest.skip("the published files are not here; set REGARD_DATA to their folder")
        monkeypatch.setenv("REGARD_DATA", str(beside.resolve()))
