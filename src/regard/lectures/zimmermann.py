"""Deck 000."""

from regard.lectures.tour import Deck, Quiz, Topic

DECK = Deck(
    number="000",
    short="Zimmermann",
    title="Transformers: word and image embeddings with global attention",
    by="Karel Zimmermann, Czech Technical University in Prague",
    says="Words as vectors, attention as a search, then pictures: what a network gains when nobody tells it where to "
    "look.",
    topics=(
        Topic(
            "maps",
            "Seeing many dimensions in two",
            "PCA keeps the directions of most variance; t-SNE keeps neighbours together and gives up true distances.",
            place="words-map",
            command="regard map words-en --count 500 --how pca --out words.svg",
            claims=("maps",),
        ),
        Topic(
            "word2vec",
            "Words become short vectors",
            "word2vec turns one of N words into a few hundred numbers, so that words with like neighbours lie close.",
            place="build-words",
            command="regard words --near teacher",
            code='words = regard.load("words-en")\n'
            'for near in words.near("teacher", count=5).without_inputs:\n    print(near.word)',
        ),
        Topic(
            "algebra",
            "Word algebra",
            "The step from man to woman is nearly the step from king to queen, so sums of vectors answer analogies.",
            place="words-king",
            command='regard words "king - man + woman"',
            claims=("algebra",),
            quizzes=(
                Quiz(
                    "king − man + woman: which word of all 30,000 lies nearest to the sum?",
                    ("queen", "king", "woman"),
                    1,
                    "Customarily the three words of the question may not be the answer, and nobody says so. "
                    "With that rule it is queen.",
                ),
            ),
            code='answer = words("king - man + woman")[0]\n'
            'print(answer.without_inputs[0].word, "by the rule,", answer.with_inputs[0].word, "without it")',
        ),
        Topic(
            "room",
            "Room for concepts",
            "In n dimensions n vectors can be orthogonal, but far more can be almost orthogonal.",
            place="words-room",
            claims=("room",),
            quizzes=(
                Quiz(
                    "How many vectors in n dimensions can all be orthogonal to each other?",
                    ("n", "2n", "n²", "as many as you like"),
                    0,
                    "Each new one needs a direction of its own, and there are n of them.",
                ),
                Quiz(
                    "Can n dimensions hold only n independent concepts?",
                    ("Yes, one for each dimension", "No: concepts that are almost independent are many more"),
                    1,
                    "10,000 vectors fit into 100 dimensions with no two closer than about 72°. Almost is not quite: "
                    "the claim asks how near to 90° they get.",
                ),
            ),
        ),
        Topic(
            "query",
            "Which words matter to this one?",
            "A word asks with its query, every word answers with its key, and their product says how well the two fit.",
            place="file-karel",
            quizzes=(
                Quiz(
                    "“Karel is teacher and Mario is plumber.” Which word adds most to the meaning of Karel?",
                    ("is", "teacher", "Mario", "plumber"),
                    1,
                    "teacher says what Karel is. Attention can add the vector of teacher to the vector of Karel, "
                    "wherever in the sentence it stands. Open the reading and see which heads do.",
                ),
            ),
        ),
        Topic(
            "qkv",
            "Queries, keys and values",
            "It works like a search: the query is what is typed, keys are captions, values are the films themselves.",
            place="build-values",
            code="from regard.attention import multihead\nimport torch\n\n"
            "attention = multihead(64, heads=4)\nprint(attention(torch.randn(1, 10, 64)).shape)",
        ),
        Topic(
            "matrix",
            "No loop: one matrix product",
            "All queries are asked at once: softmax(Q Kᵀ) V answers every word of the sentence in one product.",
            place="build-self",
            claims=("sequential",),
        ),
        Topic(
            "it",
            "What does “it” mean?",
            "The lecture shows a head that looks from “it” to the animal; look for one yourself.",
            place="file-tired",
            claims=("antecedents",),
            quizzes=(
                Quiz(
                    "“The animal didn't cross the street because it was too …”: is it the animal or the street?",
                    ("Always the animal", "Always the street", "The last word decides: tired or wide"),
                    2,
                    "An animal is tired, a street is wide. So a model has to read the last word before it knows. "
                    "Both sentences are recorded: compare where “it” looks.",
                ),
            ),
        ),
        Topic(
            "gender",
            "Doctor and nurse",
            "A model that learnt from texts also learnt their habits: “she” is taken for the nurse, “he” for the "
            "doctor.",
            place="file-nurse",
            claims=("gender",),
        ),
        Topic(
            "translation",
            "Encoder and decoder",
            "The encoder reads the Czech sentence once; the decoder writes English word by word and looks back at it.",
            place="translate-czech",
            command='regard translate --model cs-en "Dva psi běží po trávě."',
            code='print(regard.load("cs-en")("Dva psi běží po trávě.")[0].text)',
        ),
        Topic(
            "masked",
            "Masked self-attention",
            "A mask of −∞ above the diagonal hides the words to come, so that all places can be trained at once.",
            place="build-mask",
            claims=("future",),
        ),
        Topic(
            "cross",
            "Cross-attention",
            "Queries come from the decoder, keys and values from the encoder: the equation stays the same.",
            place="build-cross",
        ),
        Topic(
            "vision",
            "Where vision Transformers look",
            "Swin, MaxViT and ACC-ViT group patches in different ways, and so their pictures of attention differ.",
            place="see-three",
            command="regard look world-swin world:36 --how gradcam --beside world-maxvit world-accvit",
        ),
        Topic(
            "groups",
            "Regional, sparse and atrous attention",
            "Early layers need not look everywhere: windows, grids and spread-out groups save most of the work.",
            place="see-groups",
            claims=("partitions", "windows"),
        ),
        Topic(
            "prior",
            "Convolution is a habit, attention is learnt",
            "A convolution is told to look nearby; a Transformer has to learn it from data, and needs more of them.",
            claims=("data",),
        ),
        Topic(
            "self-supervision",
            "Learning without labels",
            "Inpainting, a teacher with more knowledge, DINO, two eyes: each makes its own labels from plain data.",
            place="world-eyes",
            command="regard world show",
            claims=("segments", "privileged", "eyes", "sensors"),
        ),
        Topic(
            "prompts",
            "A click may mean several things",
            "SAM sees a picture once and answers every click by masks: of the part, of the thing and of the group.",
            command="regard segment world:7 --point 32,32 --out mask.png",
            claims=("ambiguous",),
        ),
        Topic(
            "summary",
            "What is fixed, and what depends on the data",
            "A convolution has fixed weights at fixed places; attention makes both its places and its weights from "
            "the input.",
            place="build-learning",
            claims=("aggregation",),
        ),
    ),
)
