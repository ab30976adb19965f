"""Keep the best valid paraphrase of each question.

python examples/filter_paraphrases.py
"""

from __future__ import annotations

from paraqd import Scorer

CANDIDATES = {
    "A baker sells 12 rolls for $9. How much do 20 rolls cost?": [
        "Twelve rolls cost $9 at the baker's. What is the price of 20 rolls?",
        "A baker sells rolls for $9. How much do 20 rolls cost?",
        "A baker sells 12 rolls for 9 euros. How much do 20 rolls cost?",
    ],
    "Nina is 4 years older than Omar. Omar is 11. How old is Nina?": [
        "Omar is 11 years old, and Nina is 4 years younger than Omar. How old is Nina?",
        "Nina is 4 years older than Omar, who is 11. What is Nina's age?",
    ],
}


def best_paraphrases(scorer: Scorer) -> dict[str, str | None]:
    """Return the valid paraphrase with the highest score for each question, or None if no paraphrase is valid."""
    best: dict[str, str | None] = {}
    for question, paraphrases in CANDIDATES.items():
        verdicts = scorer.score_pairs([(question, paraphrase) for paraphrase in paraphrases])
        valid = [(verdict.score, text) for verdict, text in zip(verdicts, paraphrases, strict=True) if verdict.valid]
        best[question] = max(valid)[1] if valid else None
    return best


if __name__ == "__main__":
    for question, paraphrase in best_paraphrases(Scorer.load()).items():
        print(f"{question}\n  → {paraphrase or 'no valid paraphrase'}")
