"""Change the relations between quantities, or state the same relations the other way round."""
