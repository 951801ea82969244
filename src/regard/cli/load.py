"""Open a model for a verb: by its name in the zoo, from its folder, or the default one of a task."""

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from regard.cli.errors import UsageError
from regard.names import Dtype

if TYPE_CHECKING:  # torch waits until a model is opened, so that help does not
    from regard.pipelines import Pipeline


def load_model(
    what: str, *, task: str | Sequence[str] | None = None, dtype: Dtype = "float32", pickle: bool = False
) -> "Pipeline":
    """A pipeline; without a name, that of the bundled model which is the default of its task, the first of several."""
    from regard.zoo import default, zoo

    tasks = [task] if isinstance(task, str) else list(task or ())
    if not what and tasks:
        what = default(tasks[0]) or ""
        if not what:
            raise UsageError(f"no bundled model does {tasks[0]}; name a folder by --model, as regard train leaves one")
    from regard.hub import CheckpointError
    from regard.pipelines import load

    try:
        found: Pipeline = load(what, dtype=dtype, pickle=pickle)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    except CheckpointError as error:
        known = what in zoo()
        raise (SystemExit if known else UsageError)(str(error)) from None
    except (ValueError, KeyError) as error:
        raise UsageError(str(error.args[0])) from None
    if tasks and found.task == "look":
        raise UsageError(f"{found.name} is not one of regard's models and can only be looked at (regard look)")
    if tasks and found.task not in tasks:
        wanted = " or ".join(tasks)
        raise UsageError(f"{found.name} does {found.task}, not {wanted}; choose another model, or say regard run")
    return found


def refuse_useless(options: Iterable[str], method: Callable[..., Any], task: str) -> None:
    """Refuse an option that a method of a pipeline would not read."""
    for name in options:
        if name not in signature(method).parameters:
            raise UsageError(f"--{name.replace('_', '-')} does nothing for the task {task!r}; leave it out")
