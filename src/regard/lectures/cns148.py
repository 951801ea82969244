"""Deck 001."""

from regard.lectures.tour import Deck, Quiz, Topic

DECK = Deck(
    number="001",
    short="CNS148",
    title="Transformers and vision Transformers",
    by="EE/CS/CNS148, 2022",
    says="From one Italian sentence to scaled dot-product attention, heads, the encoder, and pictures cut into "
    "patches.",
    topics=(
        Topic(
            "motivation",
            "A translator has to look",
            "Italian puts the object before the verb, so whoever translates word by word gets the order wrong.",
            place="translate-eating",
            command='regard translate --model it-en "La sto mangiando."',
            claims=("alignment",),
            code='print(regard.load("it-en")("La sto mangiando.")[0].text)',
        ),
        Topic(
            "embeddings",
            "Word embeddings",
            "Each word becomes a vector, and words that are used alike get vectors that are alike.",
            place="words-map",
            command="regard words --odd breakfast cereal dinner lunch",
        ),
        Topic(
            "intuition",
            "What is attention, intuitively?",
            "Reading one word, you need some of the others more: its verb, its object.",
            place="translate-eating",
            quizzes=(
                Quiz(
                    "“Io la sto mangiando.” What do you need to know what the subject, “io”, is doing?",
                    ("la", "sto mangiando", "only “io” itself"),
                    1,
                    "“sto mangiando” is what the subject does: am eating. The object “la” can wait.",
                ),
                Quiz(
                    "And what is the verb operating on?",
                    ("io", "la", "the full stop"),
                    1,
                    "“la” is the object, it: Italian puts it before the verb, English after it.",
                ),
            ),
        ),
        Topic(
            "sum",
            "What is attention, mathematically?",
            "A weight for each word, positive and adding up to 1; the context is the sum of the vectors in these "
            "shares.",
            place="build-softmax",
            quizzes=(
                Quiz(
                    "How can “look at io, sto and mangiando, not at la” be written with word vectors?",
                    (
                        "Keep the three vectors and drop the fourth",
                        "A weighted sum with the shares 0.33, 0, 0.33, 0.33",
                        "The longest of the four vectors",
                    ),
                    1,
                    "A weighted sum has one size however long the sentence is, and its shares can be learnt by "
                    "gradients.",
                ),
            ),
        ),
        Topic(
            "making",
            "A verb finds its other half",
            "In the paper's figure “making” looks at “more difficult”, six words on; find a head that does so here.",
            place="file-making",
        ),
        Topic(
            "anaphora",
            "What “it” stands for",
            "Some layer has to find that “it” is the plate that Susan dropped.",
            place="read-it",
            claims=("antecedents",),
        ),
        Topic(
            "qkv",
            "Query, key, value",
            "Three matrices make three vectors of each word: to ask with, to be found by, and to be taken.",
            place="build-values",
        ),
        Topic(
            "scaled",
            "Divide by √d",
            "A product of long vectors has a large spread; dividing by √d keeps the softmax soft and its gradients "
            "alive.",
            place="build-scaled",
            claims=("scale",),
            code="import torch\n\n"
            "for width in (4, 64, 1024):\n"
            "    scores = torch.randn(100, width) @ torch.randn(width)\n"
            "    bare, scaled = scores.softmax(0).max(), (scores / width**0.5).softmax(0).max()\n"
            '    print(f"width {width}: the largest share is {bare:.2f}, with the root {scaled:.2f}")',
        ),
        Topic(
            "three",
            "Why three representations?",
            "Folding queries, keys or values into one saves parameters, and takes away something each time.",
            place="build-self",
            claims=("sharing",),
            quizzes=(
                Quiz(
                    "Why not use one vector both as query and as key?",
                    (
                        "Then i would look at j exactly as much as j at i, before the softmax, and mostly at itself",
                        "Then the softmax would not add up to 1",
                        "Then the model could not be trained by gradients",
                    ),
                    0,
                    "With q = k the scores are symmetric, and the product of a vector with itself tends to be the "
                    "largest. "
                    "An adjective could not look at its noun without being looked at as much.",
                ),
                Quiz(
                    "Why not use one vector both as key and as value?",
                    (
                        "Keys must be shorter than values",
                        "How a word is found need not be what is taken from it",
                        "Values must not be negative",
                    ),
                    1,
                    "A pronoun is found because it is a pronoun; what is taken from it is whom it means. "
                    "Whether the separate matrices pay is put to the test below.",
                ),
            ),
        ),
        Topic(
            "heads",
            "Several heads",
            "Each head has matrices of its own and looks for something else; a last matrix mixes what they found.",
            place="build-heads",
            claims=("heads", "steadier"),
            quizzes=(
                Quiz(
                    "Why several heads instead of one?",
                    (
                        "They need fewer parameters",
                        "It worked better in the paper; why is still discussed, steadier training is one answer",
                        "One head can look at one word only",
                    ),
                    1,
                    "The number of parameters is the same, and one head can look at many words. Both reasons, the "
                    "score "
                    "and the steadier training, are put to the test below.",
                ),
            ),
        ),
        Topic(
            "encoder",
            "The encoder",
            "Attention, then a small network for each word; around both a sum that keeps what came in, and a norm.",
            place="build-block",
            command="regard list models",
            code='from regard.models import build\n\nprint(build("transformer-nano"))',
        ),
        Topic(
            "patches",
            "From words to pictures",
            "A Transformer takes any sequence of vectors, so a picture only has to be cut up.",
            place="see-patch",
            claims=("patches",),
            quizzes=(
                Quiz(
                    "What would be the most naive “word” of a picture?",
                    ("A pixel", "A row of pixels", "An object"),
                    0,
                    "224 × 224 pixels are 50,176 words, and attention would need 2.5 billion weights for each head.",
                ),
                Quiz(
                    "What is a more realistic, efficient “word”?",
                    ("A colour", "A patch, such as 16 × 16 pixels", "A corner found by hand"),
                    1,
                    "14 × 14 patches are 196 words: a sentence. Each patch is flattened and multiplied by one learnt "
                    "matrix.",
                ),
            ),
        ),
        Topic(
            "class-token",
            "The class token",
            "A learnt token travels with the patches and collects what the classifier needs.",
            place="see-heads",
            claims=("pooling",),
            quizzes=(
                Quiz(
                    "Do we need the class token?",
                    ("Yes, accuracy collapses without it", "No, the mean of the patches does about as well"),
                    1,
                    "With a suitable learning rate both give about the same accuracy in the paper; the claim below "
                    "asks again.",
                ),
            ),
        ),
        Topic(
            "maps",
            "What the attention maps look like",
            "Low layers look around themselves or everywhere, high layers at the thing that is named.",
            place="see-heads",
            claims=("near_and_far",),
            quizzes=(
                Quiz(
                    "How does a vision Transformer see differently from a convolution network?",
                    (
                        "Its first layers look both near and far; a convolution begins near",
                        "It sees only shapes, a convolution only colours",
                        "It looks at one patch at a time",
                    ),
                    0,
                    "In the first blocks some heads stay near and others span the picture. A 3 × 3 kernel cannot.",
                ),
            ),
        ),
        Topic(
            "cka",
            "Comparing two networks",
            "CKA compares how alike pictures are to each other in one layer with how alike they are in another.",
            claims=("alike",),
            quizzes=(
                Quiz(
                    "Two layers hold the same, only turned round. Which comparison notices that they are equal?",
                    (
                        "Number by number",
                        "Comparing the similarities between pictures within each layer",
                        "Comparing the mean of each layer",
                    ),
                    1,
                    "Turning does not change which pictures are near each other. So CKA compares the two tables of "
                    "similarities (Gram matrices).",
                ),
            ),
        ),
        Topic(
            "better",
            "Are Transformers better than ResNets?",
            "Both sides keep improving their training, and each has beaten the other under some conditions.",
            claims=("compute", "data"),
            quizzes=(
                Quiz(
                    "Are vision Transformers better than ResNets?",
                    ("Yes", "No", "It depends on data, compute and the training recipe"),
                    2,
                    "“ResNet strikes back” (2021) and “DeiT III: Revenge of the ViT” (2022) changed only the training.",
                ),
            ),
        ),
    ),
)
