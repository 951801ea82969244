"""t-SNE of large sets by openTSNE (Poličar 2019), which approximates far points by their sum on a grid or in a tree."""

from typing import Any

from regard.analysis.maps.affinity import lower_perplexity
from regard.analysis.maps.map import Map, Points, as_points
from regard.progress import Progress

EVERY = 50  # steps between two words of progress
STEPS = 750  # openTSNE's own: 250 with exaggeration, 500 without


def fast_tsne(
    points: Points,
    perplexity: float | int = 30,
    dimensions: int = 2,
    *,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
) -> Map:
    """A map of points by openTSNE with its own settings; the perplexity is lowered as in `tsne`."""
    openTSNE = _library()  # noqa: N806
    table = as_points(points)
    if not 1 <= dimensions <= 3:
        raise ValueError(f"a map of {dimensions} dimensions cannot be shown; give 2 or 3")
    used, lowered = lower_perplexity(perplexity, len(table))
    watched: dict[str, Any] = {}
    if progress is not None:
        done = 0

        def tell(*_: object) -> None:
            nonlocal done
            done += EVERY
            progress(min(1.0, done / STEPS))

        watched = dict(callbacks=tell, callbacks_every_iters=EVERY)
    found = openTSNE.TSNE(
        n_components=dimensions,
        perplexity=used,
        random_state=seed,
        n_jobs=threads,
        negative_gradient_method="auto" if dimensions < 3 else "bh",
        **watched,
    ).fit(table)
    facts = {"perplexity": used, "kl": float(found.kl_divergence), "steps": STEPS, "init": "pca"}
    return Map(
        found.__array__().astype("float32"), "t-SNE by openTSNE", facts | ({"lowered": lowered} if lowered else {})
    )


def _library() -> Any:
    try:
        import openTSNE  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError(
            "a fast t-SNE is made by openTSNE, which is not here; in a clone of regard, pip install '.[maps]', or pip "
            "install openTSNE"
        ) from None
    return openTSNE
