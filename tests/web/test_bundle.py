"""Modules as one script: it does what they do, and what it cannot hold is refused."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from regard.web.bundle import bundle


def write(folder: Path, **files: str) -> Path:
    for name, code in files.items():
        path = folder / f"{name.replace('__', '/')}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    return folder


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script, and is not there")
def test_a_bundle_does_what_its_modules_do(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        main='import * as all from "./deep/b.js";\nimport { twice as two } from "./a.js";\n'
        "/** @typedef {import('./types.js').T} T */\nconsole.log(JSON.stringify([all.four(), two(3), all.NAME]));\n",
        a="export const BASE = 2;\nexport function twice(x) {\n  return x * BASE;\n}\n",
        deep__b='import {\n  twice,\n} from "../a.js";\nexport const NAME = "b // no comment";\n'
        "export const four = () => twice(2);\n",
    )
    code = bundle("main.js", folder)
    said = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == [4, 6, "b // no comment"]
    assert code.count('modules["a.js"] = ') == 1


def test_a_circle_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, a='import { b } from "./b.js";\n', b='import { a } from "./a.js";\n')
    with pytest.raises(ValueError, match=r"a\.js imports itself by way of b\.js"):
        bundle("a.js", folder)


@pytest.mark.parametrize("line", ["export { a };\n", 'import "./b.js";\n', 'const b = await import("./b.js");\n'])
def test_what_it_would_get_wrong_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ValueError, match="which no bundle can hold"):
        bundle("a.js", write(tmp_path, a=line))
