"""The commands in groups, as `ctxembed --help` and ctxembed(1) list them.

The summaries are here so that `ctxembed --help` imports no command.
"""

GROUPS = {
    "Start here": {
        "demo": "Show the idea in eleven steps, each with its command and output",
        "explore": "Open a page where you type a sentence, or write such a page to a file",
        "compare": "Compare a word's static vector with its vectors in sentences",
        "show": "Describe a word's static vector: count, nearest words, axes, occurrences",
        "info": "List the parameters, corpus and sizes of a model, or check its files",
    },
    "A word in its sentence": {
        "explain": "Explain a word's vector in a sentence: scores, scaling, softmax, weighted sum",
        "substitutes": "Rank the words that could replace a target in its sentence",
        "ablate": "Remove each context word in turn and measure how the target's vector changes",
        "similarity": "Print the cosine of each word with each other word",
        "ladder": "Compare two words under every representation, from one-hot to learned attention",
        "positions": "Print the sinusoidal position encoding, or an attention's bias by distance",
    },
    "A word in its corpus": {
        "neighbors": "Find the words with the nearest static vectors, or complete an analogy",
        "senses": "Find the senses of a word among its occurrences in the corpus",
        "kwic": "List the occurrences of words in the corpus, with their senses",
        "collocates": "List the words that occur near a word more often than by chance",
        "keywords": "List the words that are typical of one corpus compared with another",
        "ambiguity": "Rank words by how much their meaning depends on the context",
        "shift": "Measure how the use of words differs between two corpora",
        "mix": "Train on mixtures of two corpora and follow a word's vector from one to the other",
    },
    "Train and teach": {
        "train": "Train word vectors and attention on a corpus",
        "learn": "Learn attention for a model from its corpus, without labels",
        "fit": "Fit attention to a labelled task",
        "predict": "Label the marked targets of sentences with a fitted task",
        "index": "Add a corpus to the vectors of a model",
    },
    "Vectors in and out": {
        "contextualize": "Print the contextual vectors of marked words in many sentences",
        "vectorize": "Turn sentences into word counts, TF-IDF or mean vectors",
        "tokenize": "Split a text into sentences, words, subwords or characters",
        "import": "Import vectors from word2vec, GloVe, fastText, gensim or numpy",
        "export": "Export static vectors for word2vec, gensim, fastText or numpy",
        "shrink": "Copy a model without its text, with 8 bits per number",
    },
    "Measure": {"evaluate": "Score static, bag, general and learned vectors on a benchmark"},
}
COMMANDS = tuple(name for commands in GROUPS.values() for name in commands)
OLD_NAMES = {  # commands of 0.2 and what replaces them; they work until 0.4
    "vector": "show --vector",
    "analogy": "neighbors --analogy",
    "check": "info --check",
    "report": "explore",
    "completion": "",  # click's own: _CTXEMBED_COMPLETE=bash_source ctxembed
}
