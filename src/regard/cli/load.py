"""Open a model for a verb: by its name in the zoo, from its folder, or the default one of a task."""

from collections.abc import Callable, Iterable
from inspect import signature
from typing import TYPE_CHECKING, Any

from regard.cli.errors import UsageError
from regard.names import Dtype

if TYPE_CHECKING:  # torch waits until a model is opened, so that help does not
    from regard.pipelines import Pipeline


def load_model(what: str, *, task: str | None = None, dtype: Dtype = "float32") -> "Pipeline":
    """A pipeline; without a name, that of the bundled model which is the default of its task."""
    from regard.zoo import default, zoo

    if not what and task is not None:
        what = default(task) or ""
        if not what:
            raise UsageError(f"no bundled model does {task}; name a folder by --model, as regard train leaves one")
    from regard.hub import CheckpointError
    from regard.pipelines import load

    try:
        found: Pipeline = load(what, dtype=dtype)
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    except CheckpointError as error:
        known = what in zoo()
        raise (SystemExit if known else UsageError)(str(error)) from None
    except (ValueError, KeyError) as error:
        raise UsageError(str(error.args[0])) from None
    if task is not None and found.task == "look":
        raise UsageError(f"{found.name} is not one of regard's models and can only be looked at (regard look)")
    if task is not None and found.task != task:
        raise UsageError(f"{found.name} does {found.task}, not {task}; choose another model, or say regard run")
    return found


def refuse_useless(options: Iterable[str], method: Callable[..., Any], task: str) -> None:
    """Refuse an option that a method of a pipeline would not read."""
    for name in options:
        if name not in signature(method).parameters:
            raise UsageError(f"--{name.replace('_', '-')} does nothing for the task {task!r}; leave it out")
