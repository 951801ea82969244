"""Deck 003."""

from regard.lectures.tour import Deck, Quiz, Topic

DECK = Deck(
    number="003",
    short="Hoàng",
    title="Attention, step by step",
    by="Trần Vũ Hoàng, HCMUTE",
    says="One network at a time, from a recurrent translator to a Transformer that captions pictures without a "
    "convolution.",
    topics=(
        Topic(
            "rnn",
            "Sequence to sequence with RNNs",
            "An encoder reads “we see the sky” state by state; a decoder writes “vediamo il cielo” from its last "
            "state.",
            place="translate-sky",
            command='regard translate --model it-en "Vediamo il cielo."',
        ),
        Topic(
            "forcing",
            "Training and test",
            "In training the decoder is given the right previous word (teacher forcing); in use it gets its own.",
            place="translate-beam",
            command='regard look de-en "Ein Hund läuft." --target "A cat sleeps."',
            claims=("forcing",),
        ),
        Topic(
            "problem",
            "The trouble with one context vector",
            "Every word of the output reads the same vector c, whatever the length of the input.",
            place="translate-long",
            claims=("bottleneck",),
            quizzes=(
                Quiz(
                    "Are there problems with using one context vector c like this?",
                    (
                        "No, a recurrent network remembers everything",
                        "Yes: the whole input must fit into a vector of fixed size",
                        "Yes: c is different at every step",
                    ),
                    1,
                    "The vector has as many numbers for three words as for a thousand.",
                ),
                Quiz(
                    "What if the input has T = 1000 words?",
                    (
                        "c grows with T",
                        "The same few hundred numbers must hold all of them",
                        "The decoder reads the words again",
                    ),
                    1,
                    "Ideally the decoder could look back at the inputs while it writes: that is attention.",
                ),
            ),
        ),
        Topic(
            "alignment-scores",
            "Scores, weights, context",
            "A small network scores every state of the encoder; softmax makes weights; their sum is the context of "
            "this step.",
            place="build-additive",
            quizzes=(
                Quiz(
                    "For “vediamo”, which means “we see”, which weights over “we see the sky” would you expect?",
                    ("0.25, 0.25, 0.25, 0.25", "0.45, 0.45, 0.05, 0.05", "0, 0, 0, 1"),
                    1,
                    "Nobody tells it: the weights are part of the network, and the gradient goes through them.",
                ),
            ),
        ),
        Topic(
            "each-step",
            "A new context at every step",
            "Each word of the output looks at other parts of the input, and nothing is squeezed through one vector.",
            place="translate-additive",
            claims=("contexts", "alignment"),
        ),
        Topic(
            "word-order",
            "Attention finds another word order",
            "Where two languages order their words alike the matrix has a diagonal; where they do not, it bends.",
            place="translate-order",
            command="regard world sample pairs --from it --to en",
            claims=("reordering", "alignment"),
        ),
        Topic(
            "caption-problem",
            "Captions without attention",
            "A convolution network turns the picture into one vector, and the captioner writes from that alone.",
            place="world-scene",
            quizzes=(
                Quiz(
                    "What is the problem with this set-up?",
                    (
                        "The picture is too large for a convolution network",
                        "All that will be said has to pass through one vector, as in translation",
                        "A captioner needs labels for each pixel",
                    ),
                    1,
                    "It is the bottleneck again, with a picture in place of a sentence.",
                ),
            ),
        ),
        Topic(
            "caption-attention",
            "Captions with attention",
            "The picture stays a grid of vectors, and each word of the caption looks at the cells that it needs.",
            place="caption-scene",
            command="regard caption world:2 --look words.svg",
            quizzes=(
                Quiz(
                    "How many context vectors are computed?",
                    ("One for the picture", "One for each cell of the grid", "One for each step of the decoder"),
                    2,
                    "Each step asks with its own state and gets a context of its own, so there are as many as words.",
                ),
            ),
        ),
        Topic(
            "general",
            "The general attention layer",
            "Take the grid away and attention works on any set of vectors: queries, keys and values are all it needs.",
            place="build-values",
            quizzes=(
                Quiz(
                    "How does this attention differ from that of a Transformer?",
                    (
                        "A Transformer scores by a scaled product, with keys and values of their own, and lets "
                        "inputs ask",
                        "A Transformer uses no softmax",
                        "A Transformer looks at one input only",
                    ),
                    0,
                    "Four changes in a row: product for network, 1/√D, separate keys and values, and queries made of "
                    "the "
                    "inputs themselves. Build up takes them one by one.",
                ),
            ),
        ),
        Topic(
            "scaled",
            "Why divide by √D?",
            "More dimensions mean more terms, a larger spread of scores and a softmax that peaks.",
            place="build-scaled",
            claims=("scale",),
        ),
        Topic(
            "self",
            "Self-attention",
            "Queries are computed from the inputs, so every input asks all the others.",
            place="build-self",
            claims=("order",),
            code="import torch\n\nfrom regard.attention import multihead\n\n"
            "attention, tokens = multihead(32, heads=4), torch.randn(1, 6, 32)\n"
            "order = torch.randperm(6)\n"
            "print((attention(tokens[:, order]) - attention(tokens)[:, order]).abs().max())",
        ),
        Topic(
            "positions",
            "Positional encoding",
            "A code for each place is added to the inputs: different for each, bounded, and the same in every "
            "sentence.",
            place="build-order",
            command="regard list positions",
            claims=("longer", "joining"),
            quizzes=(
                Quiz(
                    "Self-attention ignores order. How can it read language, or a picture?",
                    (
                        "By reading the words one after the other",
                        "By adding a code of its place to each input",
                        "By sorting the words first",
                    ),
                    1,
                    "A learnt table or waves of many lengths, which count as the digits of a binary number do: the "
                    "last one "
                    "changes at every step, the first one seldom.",
                ),
            ),
        ),
        Topic(
            "masked",
            "Masked self-attention",
            "Scores of later words are set to −∞, so that all steps can be trained at once without seeing the future.",
            place="build-mask",
            claims=("future",),
        ),
        Topic(
            "heads",
            "Multi-head self-attention",
            "Several sets of queries, keys and values, as a convolution layer has several filters.",
            place="build-heads",
            claims=("heads",),
        ),
        Topic(
            "comparison",
            "RNNs and Transformers compared",
            "An RNN computes one state after the other; attention computes all at once and pays with memory.",
            claims=("sequential", "memory", "recall"),
        ),
        Topic(
            "block",
            "The Transformer block",
            "Self-attention is the only place where vectors meet; norms and the small network treat each one alone.",
            place="build-block",
            command="regard doctor transformer-nano",
        ),
        Topic(
            "decoder",
            "The decoder block",
            "Masked self-attention over what is written, then attention over what the encoder read.",
            place="translate-glasses",
        ),
        Topic(
            "only-transformers",
            "Only Transformers",
            "With patches in place of features, captions go from pixels to words without any convolution.",
            place="see-patch",
            claims=("patches", "compute"),
            quizzes=(
                Quiz(
                    "Perhaps we do not need convolutions at all?",
                    (
                        "Right: patches and self-attention are enough to name pictures",
                        "Wrong: without convolutions a network cannot learn from pictures",
                    ),
                    0,
                    "ViT shows that it works. At which cost in data and operations is another question: see the "
                    "claims.",
                ),
            ),
        ),
        Topic(
            "relatives",
            "Relatives",
            "Swin has windows, MViT shrinks as it goes, and DETR asks with learnt queries, each for one thing.",
            place="see-detr",
            command="regard detect world:7 --out boxes.png",
            code='print(regard.load("world-detr")("world:7")[0])',
        ),
    ),
)
