"""Write paraphrases that pass the scorer: sources of candidates, the choice among them, and repair."""
