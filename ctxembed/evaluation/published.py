"""Figures from the literature: other models, larger corpora, sometimes other splits."""

_WIC = "Pilehvar and Camacho-Collados 2019, arXiv:1808.09121; test split"
_GOOGLE = "Mikolov et al. 2013, arXiv:1301.3781, table 4; 783M words, 300 dimensions"
_SIMLEX = "Hill et al. 2015, fh295.github.io/simlex.html; 1000M words of Wikipedia"
_SCWS = "Neelakantan et al. 2014, arXiv:1504.06654; AvgSimC, 990M words"
_COARSE = "Loureiro et al. 2021, arXiv:2008.11608; all twenty words"
_LEXSUB = "Arefyev et al. 2020 (LexSubGen), arXiv:2006.00031; test parts of the two sets"

# kind -> set, metric, value of each representation, source
PUBLISHED: dict[str, list[tuple[str, str, dict[str, float], str]]] = {
    "wic": [("WiC test", "accuracy", {
        "Sentence LSTM": 0.531, "ELMo": 0.577, "SW2V": 0.581, "DeConf": 0.587,
        "Context2vec": 0.593, "BERT-large": 0.655}, _WIC)],
    "similarity": [("SimLex-999", "spearman", {"skip-gram": 0.37}, _SIMLEX)],
    "scws": [("in context", "spearman", {"Huang et al. 2012": 0.657, "MSSG": 0.693}, _SCWS)],
    "senses": [("mean", "recall", {"BERT-base centroids": 0.945}, _COARSE)],
    "analogies": [("semantic", "accuracy", {"CBOW": 0.155, "skip-gram": 0.500}, _GOOGLE),
                  ("syntactic", "accuracy", {"CBOW": 0.531, "skip-gram": 0.559}, _GOOGLE)],
    "substitution": [("SemEval-2007", "gap", {"XLNet + embeddings": 0.596}, _LEXSUB),
                     ("CoInCo", "gap", {"XLNet + embeddings": 0.556}, _LEXSUB)],
}  # fmt: skip
