"""Settings come from arguments and environment variables, and unusable ones are named."""

import pytest
from server_process import KEY

from paraqd.server.settings import Settings, SettingsError, check_exposure


def test_arguments_come_before_variables():
    environment = {
        "PARAQD_SERVE_PORT": "9000",
        "PARAQD_SERVE_HOST": "::1",
        "PARAQD_SERVE_REVIEW": "off",
        "PARAQD_SERVE_ALLOWED_ORIGINS": "https://a.example, https://b.example",
        "PARAQD_SERVE_DEADLINE": "2.5",
        "PARAQD_SERVE_MODEL": "",
    }
    settings = Settings.from_environment(environment, port=8000, host=None)
    assert (settings.port, settings.host, settings.review, settings.deadline) == (8000, "::1", False, 2.5)
    assert settings.allowed_origins == ("https://a.example", "https://b.example")
    assert settings.model is None


def test_the_key_can_be_in_a_file(tmp_path):
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    assert Settings.from_environment({"PARAQD_SERVE_API_KEY_FILE": str(path)}).api_key == KEY
    path.write_text("\n")
    with pytest.raises(SettingsError, match="empty"):
        Settings.from_environment({"PARAQD_SERVE_API_KEY_FILE": str(path)})
    with pytest.raises(SettingsError, match="cannot read the API key"):
        Settings.from_environment({"PARAQD_SERVE_API_KEY_FILE": str(tmp_path / "none")})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"port": 70_000}, "port"),
        ({"threshold": float("nan")}, "threshold"),
        ({"max_text": 0}, "max_text"),
        ({"max_text": 500, "max_characters": 999}, "the longest texts would always be refused"),
        ({"max_paraphrases": 0}, "max_paraphrases"),
        ({"max_paraphrasing": 0}, "max_paraphrasing"),
        ({"paraphrase_source": " "}, "paraphrase_source is empty"),
        ({"paraphrase_requests": 5}, "needs an endpoint"),
        ({"paraphrase_source": "https://host/v1", "paraphrase_requests": 0}, "at least 1"),
        ({"deadline": 0}, "deadline"),
        ({"max_pairs": 500, "max_waiting": 400}, "would always be refused"),
        ({"api_key": "short"}, "shorter than 16"),
        ({"api_key": "é" * 20}, "cannot carry"),
        ({"api_key": "a b" * 20}, "cannot carry"),
    ],
)
def test_unusable_settings_are_named(given, message):
    with pytest.raises(SettingsError, match=message):
        Settings(**given)


@pytest.mark.parametrize("variable", ["PARAQD_SERVE_PORT", "PARAQD_SERVE_REVIEW", "PARAQD_SERVE_THRESHOLD"])
def test_an_unusable_variable_is_named(variable):
    with pytest.raises(SettingsError, match=variable):
        Settings.from_environment({variable: "many"})


def test_other_machines_need_a_key():
    for host in ("0.0.0.0", "::", "192.168.1.5", "machine.example"):
        with pytest.raises(SettingsError, match="--api-key-file"):
            check_exposure(Settings(host=host))
        check_exposure(Settings(host=host, api_key=KEY))
        check_exposure(Settings(host=host, open_to_all=True))
    check_exposure(Settings(host="localhost"))
