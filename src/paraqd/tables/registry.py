"""Describe the named data sets: their content, their origin and their files.

A URL with ``tried=False`` was taken from the corpus's documentation; no download from it has been tried. If a file's
sha256 is known, a download with a different sha256 is rejected. If the sha256 is not known, it is recorded when the
file is first downloaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Literal

from paraqd.tables.table import DEFAULT_COLUMNS, Columns

Kind = Literal["pairs", "questions"]
Home = Literal["package", "repository", "elsewhere"]

_PARAQD = "https://github.com/ADS-AI/ParaQD"
_PARAQD_FILES = "https://raw.githubusercontent.com/ADS-AI/ParaQD/HEAD/data"
_PARAQD_AT = "https://raw.githubusercontent.com/ADS-AI/ParaQD"
_AQUA = "https://github.com/google-deepmind/AQuA"
_AQUA_FILES = "https://raw.githubusercontent.com/google-deepmind/AQuA/HEAD"
_MATHQA = "https://math-qa.github.io"
_GSM8K = "https://github.com/openai/grade-school-math"
_GSM8K_FILES = "https://raw.githubusercontent.com/openai/grade-school-math/HEAD/grade_school_math/data"


@dataclass(frozen=True)
class DataFile:
    """One file of a data set; ``name`` is its path relative to the data folder, with ``/`` as the separator."""

    name: str
    url: str | None = None
    sha256: str | None = None
    tried: bool = False


@dataclass(frozen=True)
class Dataset:
    """A data set that can be passed to commands by name.

    Attributes
    ----------
    files : tuple of DataFile
        The files in the data set. Only the first file is loaded unless ``whole`` is True.
    reader : str
        The format of the file: ``table``, ``written_pairs``, ``published_outputs`` or the name of a corpus in
        `public_corpora`.
    contradictions : bool
        True if the published file may contain a pair twice with different labels.
    obtain : str
        Instructions for obtaining a data set that cannot be downloaded.
    home : str
        The web page of the data set, or an empty string.
    kept_in : str
        ``package`` if the data set is installed with paraqd, ``repository`` if it is in the folder ``datasets`` of
        paraqd's repository, or ``elsewhere``.
    operator_column, group_column : str
        The column by which results are broken down, and a column whose value is the same for pairs that are not
        independent.

    """

    name: str
    kind: Kind
    description: str
    licence: str
    home: str
    use: str
    files: tuple[DataFile, ...]
    columns: Columns = DEFAULT_COLUMNS
    reader: str = "table"
    whole: bool = False
    contradictions: bool = False
    obtain: str = ""
    kept_in: Home = "elsewhere"
    operator_column: str = "operator"
    group_column: str | None = None

    @property
    def public(self) -> bool:
        """True if every file in the data set has a URL."""
        return all(file.url is not None for file in self.files)


def _repository_files(folder: str, name: str | None = None) -> tuple[DataFile, ...]:
    """Return the files in a folder of the repository, with hashes from a list in the format of ``sha256sum``.

    The list is named after the data set ``name`` (default: after the folder).
    """
    listed = (resources.files("paraqd.tables") / "files" / f"{name or folder}.sha256").read_text("utf-8")
    lines = [line.split() for line in listed.splitlines()]
    return tuple(DataFile(f"{folder}/{name}", sha256=sha256) for sha256, name in lines)


_REPORTING = "reporting only: no choice is made on its labels"
_TRAINING = "training, validation"
_CLONE = "it is in the folder datasets of paraqd's repository: run pip install -e . in a clone"
_FINAL = Columns(paraphrase="augmented", label="final_label")
_OWN_FILE = (
    "with the columns question, paraphrase and label (1 valid, 0 invalid). Or pass any file to a command instead of "
    "the name, with --question-column, --paraphrase-column and --label-column"
)

_ALL = (
    Dataset(
        name="aquarat",
        kind="pairs",
        description="The paper's AquaRAT test pairs",
        licence="none stated",
        home=_PARAQD,
        use=_REPORTING,
        files=(
            DataFile(
                "aquarat_test.csv",
                f"{_PARAQD_FILES}/AQUA/AQUA_test.csv",
                "75b23e00908d115a9b729b229130c78ce640cbb522ccdf763b2625f7c895cdee",
            ),
        ),
        columns=_FINAL,
    ),
    Dataset(
        name="aquarat_train_operators",
        kind="pairs",
        description="AquaRAT test pairs made with the training operators",
        licence="none stated",
        home=_PARAQD,
        use=_REPORTING,
        files=(
            DataFile(
                "aquarat_test_train_operators.csv",
                sha256="ff6958475f023dbb8addebd3f15aa99bc15e4df6a0ec1612bf8b35967ff9c8ac",
            ),
        ),
        columns=Columns(paraphrase="augmented"),
        contradictions=True,  # four outputs equal the question and have the label of the operator that produced them
        obtain="its address is not known; ask the paper's authors",
    ),
    Dataset(
        name="published_validation",
        kind="pairs",
        description="What the public code's operators wrote for its 254 validation questions",
        licence="none stated",
        home=_PARAQD,
        use="comparing our operators with the public code's; never for a model that ships",
        files=(
            DataFile(
                "aquarat_validation_reference.csv",
                f"{_PARAQD_AT}/8469445c9537b5ea67c29e69aeed62f92a78dc38/data/AQUA/aqua_val.csv",
                "ddf0d33fc66ecaacc26960b7743283d53aa531bdd9c6a8fc4e8a3b44b6067f65",
            ),
        ),
        reader="published_outputs",
    ),
    Dataset(
        name="published_training",
        kind="pairs",
        description="What the public code's operators wrote for 400 of its training questions",
        licence="none stated",
        home=_PARAQD,
        use="comparing our operators with the public code's; never for a model that ships",
        files=(
            DataFile(
                "aquarat_training_reference.csv",
                f"{_PARAQD_AT}/6b3b37f5561e31079e96583cab0e7449ccb7b3fd/data/AQUA/aqua_400.csv",
                "383385f3a0695a1d9bae9573bdb8e291e8786e660e8e34278c6c5b0e69a67946",
            ),
        ),
        reader="published_outputs",
    ),
    Dataset(
        name="sawp",
        kind="pairs",
        description="The paper's SAWP test pairs",
        licence="none stated",
        home=_PARAQD,
        use=_REPORTING,
        files=(
            DataFile(
                "sawp_test.csv",
                f"{_PARAQD_FILES}/SAWP/SAWP_test.csv",
                "2b65669b7b22307c058420cbdd0849902402c3c7bc6612b453ce9eb1652c3c75",
            ),
        ),
        columns=_FINAL,
    ),
    Dataset(
        name="pawp",
        kind="pairs",
        description="The paper's PAWP test pairs",
        licence="none stated",
        home=_PARAQD,
        use=_REPORTING,
        files=(
            DataFile(
                "pawp_test.csv",
                f"{_PARAQD_FILES}/PAWP/PAWP_test.csv",
                "8c5771a67c99469191a25e96f08311a9324e346eba6c3ae334f1c360533047ad",
            ),
        ),
    ),
    Dataset(
        name="em_math",
        kind="pairs",
        description="EM_Math test pairs: your own set",
        licence="not public",
        home="",
        use=_REPORTING,
        files=(DataFile("em_math_test.csv"),),
        obtain=f"it is not public: use a test set of your own {_OWN_FILE}",
    ),
    Dataset(
        name="em_math_train",
        kind="questions",
        description="EM_Math training questions: your own",
        licence="not public",
        home="",
        use=_TRAINING,
        files=(DataFile("em_math_train.csv"),),
        obtain=(
            "it is not public: use questions of your own with the column question. Or pass any file to a command "
            "instead of the name, with --question-column"
        ),
    ),
    Dataset(
        name="em_questions",
        kind="questions",
        description="School questions by the publisher of EM_Math, without labels",
        licence="none stated",
        home="https://github.com/rg089/SCANING",
        use=_TRAINING,
        files=(DataFile("em_questions.jsonl.gz"),),
        obtain=(
            "the question texts are public at https://github.com/rg089/SCANING in the folder code/data, without a "
            "licence; save them as JSON Lines with the column question"
        ),
    ),
    Dataset(
        name="aqua_rat",
        kind="questions",
        description="AQuA-RAT: algebra questions with rationales",
        licence="Apache-2.0",
        home=_AQUA,
        use=_TRAINING,
        files=(
            DataFile("aqua_rat/train.json", f"{_AQUA_FILES}/train.json"),
            DataFile("aqua_rat/dev.json", f"{_AQUA_FILES}/dev.json"),
            DataFile("aqua_rat/test.json", f"{_AQUA_FILES}/test.json"),
        ),
        reader="aqua_rat",
    ),
    Dataset(
        name="mathqa",
        kind="questions",
        description="MathQA: questions with annotated formulas, lower-case",
        licence="Apache-2.0",
        home=_MATHQA,
        use=_TRAINING,
        files=(DataFile("mathqa/MathQA.zip", f"{_MATHQA}/math-QA/data/MathQA.zip"),),
        reader="mathqa",
    ),
    Dataset(
        name="gsm8k",
        kind="questions",
        description="GSM8K: grade-school word problems",
        licence="MIT",
        home=_GSM8K,
        use=_TRAINING,
        files=(DataFile("gsm8k/train.jsonl", f"{_GSM8K_FILES}/train.jsonl"),),
        reader="gsm8k",
    ),
    Dataset(
        name="questions",
        kind="questions",
        description="The training mixture of the three corpora, without test questions",
        licence="Apache-2.0, MIT",
        home="",
        use=_TRAINING,
        files=(DataFile("questions.jsonl.gz"),),
        obtain="build it: paraqd lab data build questions -o questions.jsonl.gz",
    ),
    Dataset(
        name="written_pairs",
        kind="pairs",
        description="Training questions with rewrites by a language model, valid and invalid",
        licence="the project's",
        home="",
        use="training, validation and open benchmark of the extended recipe",
        files=(DataFile("written_pairs.jsonl.gz"),),
        reader="written_pairs",
        obtain="it is not published yet",
    ),
    Dataset(
        name="synthetic",
        kind="pairs",
        description="Problems with valid and invalid paraphrases, written by language models",
        licence="Apache-2.0",
        home="",
        use="training and validation of the default scorer",
        files=_repository_files("synthetic"),
        whole=True,
        obtain=(
            "it is in the folder datasets of paraqd's repository: run pip install -e . in a clone, or set "
            "PARAQD_DATASETS_URL to the address of that folder and run paraqd lab data get synthetic"
        ),
        kept_in="repository",
        operator_column="kind",
    ),
    Dataset(
        name="styles",
        kind="pairs",
        description="Problems with paraphrases in today's styles, written by language models",
        licence="Apache-2.0",
        home="",
        use="training of the default scorer",
        files=_repository_files("styles"),
        whole=True,
        obtain=(
            "it is in the folder datasets of paraqd's repository: work in a clone, or set PARAQD_DATASETS_URL to the "
            "address of that folder and run paraqd lab data get styles"
        ),
        kept_in="repository",
        operator_column="kind",
    ),
    Dataset(
        name="styles_validation",
        kind="pairs",
        description="Rewrites in today's styles, for choosing and calibrating the default scorer",
        licence="the project's",
        home="",
        use="validation of the default scorer; never for training",
        files=(DataFile("styles_validation.jsonl.gz"),),
        obtain="it is not published yet",
        operator_column="kind",
    ),
    Dataset(
        name="model_rewrites",
        kind="pairs",
        description="Rewrites by a small language model, labelled by other language models",
        licence="Apache-2.0",
        home="",
        use="training of the default scorer",
        files=_repository_files("model_rewrites"),
        whole=True,
        obtain=_CLONE,
        kept_in="repository",
        operator_column="kind",
        group_column="id",
    ),
    Dataset(
        name="rewrites_validation",
        kind="pairs",
        description="Problems with lively and reordered rewrites by other writers than those of the training text",
        licence="Apache-2.0",
        home="",
        use="validation of the default scorer; never for training",
        files=_repository_files("rewrites_validation"),
        whole=True,
        obtain=_CLONE,
        kept_in="repository",
        operator_column="kind",
        group_column="id",
    ),
    Dataset(
        name="retold",
        kind="pairs",
        description="Exam and classroom problems retold boldly, long stories, and attacks with harmless twins",
        licence="Apache-2.0",
        home="",
        use="training of the next judges; the shipped ones have not seen it",
        files=_repository_files("retold"),
        whole=True,
        obtain=_CLONE,
        kept_in="repository",
        operator_column="kind",
        group_column="id",
    ),
    Dataset(
        name="retold_validation",
        kind="pairs",
        description="Problems retold freely, long stories and attacks, by other writers than those of the training text",
        licence="Apache-2.0",
        home="",
        use="validation of the default scorer; never for training",
        files=_repository_files("retold_validation"),
        whole=True,
        obtain=_CLONE,
        kept_in="repository",
        operator_column="kind",
        group_column="id",
    ),
    Dataset(
        name="solvable",
        kind="questions",
        description="Questions that language models wrote one by one, solvable or with a fault",
        licence="Apache-2.0",
        home="",
        use="training and validation of the check for solvable questions",
        files=_repository_files("solvable"),
        whole=True,
        columns=Columns(question="text"),
        obtain=_CLONE,
        kept_in="repository",
    ),
    Dataset(
        name="solvable_test",
        kind="questions",
        description="Test questions that a language model wrote one by one, solvable or with a fault",
        licence="Apache-2.0",
        home="",
        use=_REPORTING,
        files=_repository_files("solvable", "solvable_test"),
        whole=True,
        columns=Columns(question="text"),
        obtain=_CLONE,
        kept_in="repository",
    ),
    Dataset(
        name="awp-variants",
        kind="pairs",
        description="Open benchmark: rewrites from a tenth of written_pairs, with faults",
        licence="Apache-2.0",
        home="",
        use=_REPORTING,
        files=(
            DataFile(
                "awp_variants.jsonl.gz", sha256="732327506f1d043f13a4881b8b8f425437f8702307be606399bd89ad05433a1b"
            ),
        ),
        obtain="it comes with paraqd: install paraqd again",
        kept_in="package",
        operator_column="fault",
        group_column="problem",
    ),
    Dataset(
        name="general_paraphrases",
        kind="pairs",
        description="General English pairs from PAWS, QQP, MRPC and ParaNMT",
        licence="as their sources",
        home="",
        use="training generators, regularisation",
        files=(DataFile("general_paraphrases.jsonl.gz"),),
        columns=Columns(question="a", paraphrase="b"),
        obtain="it is not published yet",
    ),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
