"""Score pairs of a question and a paraphrase, and sign the scores with the model and settings that produced them."""
