"""The command `regard`: find the verb, read its flags, run it, and end well whatever happens.

Misuse ends with code 2, failure with 1, Ctrl-C with 130 and a closed pipe with 141, as shells expect. An error is one
line; REGARD_TRACEBACK=1 shows where a failure came from.
"""

import os
import sys
from importlib import import_module
from io import TextIOWrapper

import regard
from regard.cli.errors import UsageError
from regard.cli.verbs import overview, verbs
from regard.names import unknown
from regard.plugins import PluginError


def main(args: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without · or × still gets its answer
    try:
        _run(sys.argv[1:] if args is None else args)
        sys.stdout.flush()
    except (UsageError, PluginError) as error:
        if isinstance(error, PluginError) and os.environ.get("REGARD_TRACEBACK"):
            raise
        return _complain(error, 2)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else _complain(end.code, 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Python flushes standard output once more at the end; let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        if os.environ.get("REGARD_TRACEBACK"):
            raise
        return _complain(f"{type(error).__name__}: {error} (REGARD_TRACEBACK=1 shows where)", 1)
    return 0


def _run(args: list[str]) -> None:
    word, *rest = args or ["--help"]
    if word in ("--help", "-h", "help"):
        print("\n".join(overview(regard.__doc__ or "")))
        return
    if word == "--version":
        print(f"regard {regard.__version__}")
        return
    known = verbs()
    if word not in known:
        raise UsageError(unknown("verb", word, known))
    from regard.cli.flags import parse

    module = import_module(f"regard.cli.{word}")
    if hasattr(module, "flags_of"):  # the flags depend on what is said, and what was said matters
        module.main(parse(module.flags_of(rest), known[word], rest), rest)
    else:
        module.main(parse(module.Flags, known[word], rest))


def _complain(message: object, code: int) -> int:
    print("regard:", " ".join(str(message).split()), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
