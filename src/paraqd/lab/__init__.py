"""The laboratory: the paper's method, and everything that makes models and labels. Nothing else imports it."""
