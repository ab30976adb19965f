"""Change the relations between quantities, or state them the other way round."""
