"""Leave out the doctests of adapters whose tool is not installed. Their modules cannot be imported then."""

from importlib.util import find_spec

_ADAPTERS = {
    "pandas_accessor": "pandas",
    "sklearn_estimator": "sklearn",
    "inspect_scorer": "inspect_ai",
    "datatrove_filter": "datatrove",
    "deepeval_metric": "deepeval",
}
collect_ignore = [f"paraqd/integrations/{name}.py" for name, tool in _ADAPTERS.items() if find_spec(tool) is None]
