"""Deck 004."""

from regard.lectures.tour import Deck, Quiz, Topic

DECK = Deck(
    number="004",
    short="Erdem",
    title="Attention and Transformers",
    by="Aykut Erdem, Koç University, COMP547, 2024",
    says="Three ideas make a Transformer: tokens, attention and positional encoding. And what memory has to do with "
    "it.",
    topics=(
        Topic(
            "memory",
            "Memory",
            "A recurrent network keeps a state of fixed size and hopes that it holds what will be needed.",
            claims=("recall",),
            quizzes=(
                Quiz(
                    "Why not simply remember everything?",
                    (
                        "The memory would grow with every step",
                        "It would take too long to train",
                        "Old observations are never useful",
                    ),
                    0,
                    "A memory of everything has no fixed size. An RNN assumes that its last state says enough; "
                    "attention "
                    "keeps all states and pays for them.",
                ),
            ),
        ),
        Topic(
            "far",
            "Far dependences",
            "Temporal convolutions, memory networks and attention reach back directly instead of through every state "
            "between.",
            claims=("recall", "distances"),
        ),
        Topic(
            "table",
            "Cost, steps and paths",
            "Self-attention needs n² products, but one step, and any two words are one step apart.",
            claims=("table1",),
            quizzes=(
                Quiz(
                    "How many steps lie between the first and the last of n words in a self-attention layer?",
                    ("1", "log n", "n", "n²"),
                    0,
                    "Each word looks at each directly. A recurrent layer needs n steps, stacked convolutions log n.",
                ),
            ),
        ),
        Topic(
            "tokens",
            "Idea 1: tokens",
            "A token is a vector that travels as one thing: a word, a patch, a node of a graph.",
            place="build-words",
            code='print(german.tokenizer.encode(["Ein Hund läuft."]))',
        ),
        Topic(
            "tokenizing",
            "Anything can be tokens",
            "Cut the input into chunks and project each chunk to a vector.",
            place="see-patch",
        ),
        Topic(
            "token-nets",
            "Networks of tokens",
            "A layer mixes tokens by a weighted sum, then treats each of them by the same small network.",
            place="build-block",
            command="regard list models",
        ),
        Topic(
            "cnn-limit",
            "Idea 2: attention; what a CNN lacks",
            "A convolution sees its neighbourhood; some questions need two far parts of a picture at once.",
            place="world-counts",
            claims=("distances",),
            quizzes=(
                Quiz(
                    "“Is the top right bird the same species as the bottom left bird?” Where must one look?",
                    ("At the whole picture", "At two places, far apart", "At the sky"),
                    1,
                    "Two patches have to be compared. A small kernel never sees both.",
                ),
                Quiz(
                    "“How many birds are in this picture?” And where for this one?",
                    ("At one bird", "At every bird", "At the sky"),
                    1,
                    "To count, all places with a bird have to be gathered, wherever they are.",
                ),
                Quiz(
                    "“What is the colour of the sky?” And for this?",
                    ("At any patch of sky", "At every bird", "At all pixels alike"),
                    0,
                    "So where to look depends on the question: it cannot be fixed in a kernel.",
                ),
            ),
        ),
        Topic(
            "aggregation",
            "Ways to gather information over space",
            "A convolution gathers neighbours, a pyramid step by step, a full connection everything with fixed "
            "weights, "
            "attention everything with weights from the data.",
            place="build-self",
            claims=("aggregation",),
        ),
        Topic(
            "qkv",
            "Query, key and value",
            "“What colour is the bird's head?” becomes a query; patches answer with keys, and give their values.",
            place="build-values",
            quizzes=(
                Quiz(
                    "“What colour is the bird's head?” Which patch should have the key that fits best?",
                    ("The head", "The wing", "The branch"),
                    0,
                    "Its key says “head of a bird”, its value says “red”.",
                ),
            ),
        ),
        Topic(
            "self",
            "Self-attention",
            "Every token makes its own query, so a layer maps a set of tokens to a set of as many.",
            place="build-self",
        ),
        Topic(
            "maps",
            "Maps of a trained model",
            "In a model trained without labels (DINO) the class token looks at the things in the picture.",
            place="see-heads",
            claims=("emerging",),
        ),
        Topic(
            "heads",
            "Several heads",
            "Run k attentions with parameters of their own in parallel, and sum what they give.",
            place="build-heads",
            claims=("heads",),
            quizzes=(
                Quiz(
                    "Why have k ways of attending instead of one?",
                    (
                        "Different heads can look for different things at once",
                        "So that the weights add up to k",
                        "To make the sequence shorter",
                    ),
                    0,
                    "One softmax makes one choice. With k of them a word can find its verb and its adjective at the "
                    "same time.",
                ),
            ),
        ),
        Topic(
            "equivariance",
            "Idea 3: order",
            "Shuffle the tokens and the outputs are shuffled in the same way: attention alone cannot know an order.",
            place="build-self",
            claims=("order",),
        ),
        Topic(
            "positions",
            "Positional encoding",
            "Adding a code of its place to each token tells the network where it stands.",
            place="build-order",
            command="regard list positions",
            claims=("longer", "codes", "places"),
            quizzes=(
                Quiz(
                    "What if the answer should depend on where a token stands?",
                    (
                        "Use more layers",
                        "Add its place to the token, or use an architecture that is not the same everywhere",
                        "Use a larger kernel",
                    ),
                    1,
                    "A positional code, or a layer such as an MLP whose weights differ from place to place.",
                ),
            ),
            code="import torch\n\nfrom regard.layers.position import Sinusoidal\n\n"
            "print(Sinusoidal(8)(torch.zeros(1, 4, 8))[0])",
        ),
        Topic(
            "gpt",
            "Writing word by word",
            "A GPT guesses the next token, adds it to what it has read, and guesses again.",
            place="build-next",
            command='regard generate --model captions "A dog is running through the"',
            quizzes=(
                Quiz(
                    "“Colorless green ideas sleep …”: how is a GPT trained on this sentence?",
                    (
                        "It predicts the last word only",
                        "It predicts every word from those before it, all in one pass",
                        "It predicts hidden words from both sides",
                    ),
                    1,
                    "The mask hides the future at each place, so one pass trains as many predictions as there are "
                    "words.",
                ),
            ),
        ),
        Topic(
            "causal",
            "The causal mask",
            "The matrix of attention is a triangle: row i is empty right of column i.",
            place="read-causal",
            claims=("future",),
        ),
        Topic(
            "uses",
            "Three uses",
            "Attention connects encoder and decoder, focuses on parts of a picture, and is a building block by itself.",
            place="translate-three",
            command="regard demo",
        ),
    ),
)
