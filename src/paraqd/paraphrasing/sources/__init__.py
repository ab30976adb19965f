"""Sources of candidates: rules, models and endpoints."""
