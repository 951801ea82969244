"""Caption: what a model says of a picture, how sure it is of each word, and where it looked while it wrote it."""

from typing import Any

from regard.web.question import Question
from regard.web.shapes import Answered, kept_output, read_hypothesis
from regard.web.ticket import Ticket


def captioned(pipeline: Any, question: Question, edits: Any, ticket: Ticket) -> Answered:
    """The best caption and the next best; by `force`, one that the model is made to write."""
    import torch

    wishes = dict(question.options)
    force = wishes.pop("force", None)

    def tell(count: int) -> None:
        ticket.tell({"event": "step", "done": count, "of": None})

    with kept_output(pipeline.model) as said:
        reading = pipeline.attend(question.plain, edits=edits, target=force, tell=tell, **wishes)
    written = reading.output
    best = read_hypothesis(pipeline, written)
    ids = [*written.hypothesis.words, pipeline.stop][: len(reading.axes["target"])]
    gained = said[-1][0].float().softmax(dim=-1).gather(-1, torch.tensor(ids)[:, None].to(said[-1].device))[:, 0]
    return reading, {
        "kind": "caption",
        "outputs": [best, *(read_hypothesis(pipeline, each) for each in written.alternatives)],
        "chances": [round(each, 6) for each in gained.tolist()],
        "forced": force is not None,
    }
