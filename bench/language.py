"""Language models beside those that everyone uses: products, writing, a training step, sentences as vectors."""

from bench import nextword, products, sentences, writing


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    parts = (products, writing, nextword, sentences)
    return [row for part in parts for row in part.run(quick=quick, bfloat16=bfloat16)]
