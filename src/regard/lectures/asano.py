"""Deck 002."""

from regard.lectures.tour import Deck, Quiz, Topic

DECK = Deck(
    number="002",
    short="Najdenkoska & Asano",
    title="Attention and Transformers",
    by="Ivona Najdenkoska and Yuki M. Asano, lecture 7",
    says="From the bottleneck of recurrent translators to the Transformer, and on to BERT, GPT, CLIP, ViT and "
    "Perceiver.",
    topics=(
        Topic(
            "seq2seq",
            "Encoder and decoder",
            "A recurrent encoder squeezes the whole sentence into one vector, and a decoder unfolds the translation "
            "from it.",
            place="translate-fixed",
            command='regard translate --model de-en-fixed "Ein Hund läuft durch den Schnee."',
            code='print(regard.load("de-en-fixed")("Ein Hund läuft durch den Schnee.")[0].text)',
        ),
        Topic(
            "bottleneck",
            "The bottleneck",
            "One vector of fixed size has to hold a short sentence and a long one alike.",
            place="translate-long",
            claims=("bottleneck",),
        ),
        Topic(
            "attention",
            "Attention",
            "The encoder keeps a vector for each word, and the decoder takes what it needs at each step.",
            place="translate-additive",
            quizzes=(
                Quiz(
                    "Why does attention relieve the encoder?",
                    (
                        "It may forget the first words",
                        "It no longer has to press everything into one vector",
                        "It no longer has to read the sentence in order",
                    ),
                    1,
                    "The sentence stays as many vectors as it has words, and each output word reads the ones it needs.",
                ),
            ),
        ),
        Topic(
            "additive",
            "Scores, weights, context",
            "A small network scores each source word, a softmax makes weights of the scores, and their weighted sum "
            "is read.",
            place="build-additive",
            claims=("alignment",),
        ),
        Topic(
            "self",
            "Self-attention",
            "The words of one sentence look at each other; nothing outside of it is needed.",
            place="build-self",
        ),
        Topic(
            "captions",
            "Attention in pictures",
            "A captioner looks at the part of the picture that its next word names.",
            place="world-scene",
            command="regard world show",
            claims=("captions",),
        ),
        Topic(
            "qkv",
            "Queries, keys, values",
            "The Transformer paper gave attention its general form: a query meets keys, and their scores weigh values.",
            place="build-values",
        ),
        Topic(
            "scaled",
            "Scaled dot-product attention",
            "Without 1/√d large scores push the softmax where its gradients are tiny.",
            place="build-scaled",
            claims=("scale",),
        ),
        Topic(
            "heads",
            "Multi-head attention",
            "Several attentions run in parallel on projections of their own, are joined and projected once more.",
            place="build-heads",
            claims=("heads",),
        ),
        Topic(
            "importance",
            "May weights be read as importance?",
            "Attention shows where a model looks; whether that is what decides has to be measured.",
            place="file-making",
            claims=("importance",),
        ),
        Topic(
            "encoder-decoder",
            "The whole Transformer",
            "Six encoder layers, six decoder layers, each with residual sums and norms; the decoder also looks at "
            "the encoder.",
            place="translate-glasses",
            command='regard look de-en "Die Frau, die eine Brille trägt, liest ein Buch." --out look.svg',
            code='german = regard.load("de-en")\nreading = german.attend("Ein Hund läuft durch den Schnee.")\n'
            "for one in reading.maps:\n    print(one.name, one.heads)",
        ),
        Topic(
            "positions",
            "Positions",
            "Attention alone does not notice the order of its inputs, so codes of sines and cosines are added.",
            place="build-order",
            claims=("order",),
        ),
        Topic(
            "pros-and-cons",
            "Pros and cons",
            "All words at once and any distance in one step, paid for by work that grows with the square of the "
            "length.",
            claims=("sequential", "memory"),
        ),
        Topic(
            "bert",
            "BERT",
            "An encoder that reads both sides of a word and learns by guessing hidden words and next sentences.",
            place="read-mask",
            command='regard fill "The dog was [MASK]."',
            claims=("directions", "objectives"),
            code='print(regard.load("world-bert")("The dog was [MASK].")[0].guesses[0][:3])',
        ),
        Topic(
            "fine-tuning",
            "Fine-tuning",
            "A new layer on top and a short training turn one model into many.",
            claims=("finetuning", "distilled"),
        ),
        Topic(
            "contextual",
            "One word, two vectors",
            "word2vec gives “bank” one vector; BERT gives it another in every sentence.",
            place="words-bank",
            claims=("senses",),
        ),
        Topic(
            "gpt",
            "GPT",
            "A decoder that only predicts the next token, and so can write on from any beginning.",
            place="read-next",
            command='regard generate "ROMEO:"',
            claims=("zeroshot",),
            code='print(regard.load("captions")("A dog is running through the")[0].text)',
        ),
        Topic(
            "in-context",
            "Learning from the prompt",
            "A few examples in the prompt can teach a task, and no weight changes.",
            place="read-story",
            command="regard shots world-gpt world --shots 0 1 2 --limit 100",
            claims=("shots",),
        ),
        Topic(
            "clip",
            "CLIP and Flamingo",
            "A picture and its caption get vectors that point the same way; so class names alone make a classifier.",
            place="world-scene",
            claims=("prompts", "shifts", "examples", "probes"),
        ),
        Topic(
            "vit",
            "Vision Transformer",
            "A picture is cut into patches, a class token is put before them, and the rest is an ordinary encoder.",
            place="see-patch",
            claims=("patches",),
            quizzes=(
                Quiz(
                    "What could be an advantage of attention over convolutions?",
                    (
                        "It needs fewer training pictures",
                        "Any patch can reach any other in the first layer, with weights that depend on the picture",
                        "It is cheaper for large pictures",
                        "It cannot overfit",
                    ),
                    1,
                    "A convolution reaches its neighbours with fixed weights. The price: attention needs more data, "
                    "and its "
                    "cost grows with the square of the number of patches.",
                ),
            ),
        ),
        Topic(
            "inside-vit",
            "What a ViT has learnt",
            "Its first filters, its position codes and the distances of its heads can be looked at.",
            place="see-heads",
            claims=("near_and_far", "codes"),
            quizzes=(
                Quiz(
                    "Why are the learnt patch filters shown as principal components?",
                    (
                        "There are hundreds of filters, and a few components show what they have in common",
                        "The filters are complex numbers",
                        "The components are what the model really uses",
                    ),
                    0,
                    "Single filters look noisy and could be mixed in any way by the next matrix. Their main "
                    "directions look "
                    "like waves, blobs and edges, as in a convolution network.",
                ),
            ),
        ),
        Topic(
            "superset",
            "Attention can be a convolution",
            "With one head for each cell of the kernel and relative positions, attention computes any convolution "
            "exactly.",
            place="build-heads",
            claims=("convolution",),
        ),
        Topic(
            "training",
            "Training a ViT is harder",
            "ViTs need more pictures, or a recipe of strong augmentation and regularisation.",
            claims=("data", "ingredients", "texture"),
        ),
        Topic(
            "features",
            "Features of a ViT",
            "Coloured by their principal components, early layers show places and late layers parts of things.",
            place="see-pca",
            claims=("parts",),
        ),
        Topic(
            "hierarchy",
            "Swin and hybrids",
            "Windows bring locality back and save work; a convolution stem helps the first steps of training.",
            claims=("windows", "stem"),
            quizzes=(
                Quiz(
                    "Attention over n patches costs n². What do windows of fixed size make of that?",
                    ("log n", "n", "n² still", "n³"),
                    1,
                    "Each patch looks at a fixed number of others, so the cost grows with n alone; shifting the "
                    "windows lets "
                    "them talk to each other.",
                ),
            ),
        ),
        Topic(
            "perceiver",
            "Perceiver",
            "A small learnt array asks a huge input: the cost grows with M × N instead of M².",
            command="regard list attentions",
            code="from regard.attention import latent\nimport torch\n\n"
            "ask = latent(8, 64, 4)\nprint(ask(torch.randn(1, 500, 64)).shape)",
            place="build-cross",
            claims=("anything",),
        ),
    ),
)
