"""Store projects, pairs and the decisions of reviewers, and offer them over HTTP."""
