"""The command explains in one line why it cannot serve."""

import socket

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
KEY = "a-long-key-for-tests-only"


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARAQD_SERVE_REVIEW", "false")


def test_other_machines_are_not_served_without_a_key(fails):
    assert "pass --api-key-file FILE, or --no-api-key" in fails("serve", "--host", "0.0.0.0")


def test_an_address_in_use(fails):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        line = fails("serve", "--port", taken.getsockname()[1], "--model", "reading")
    assert "choose another --port" in line


def test_an_address_that_is_not_ours(fails):
    assert "cannot listen on 192.0.2.77" in fails("serve", "--host", "192.0.2.77", "--no-api-key", "--model", "reading")
    assert "cannot listen on no.such.name.invalid" in fails("serve", "--host", "no.such.name.invalid", "--no-api-key")


def test_a_model_that_does_not_exist(fails):
    assert "nowhere does not exist" in fails("serve", "--port", "0", "--model", "nowhere")


def test_a_key_that_cannot_be_used(fails, tmp_path):
    (tmp_path / "key").write_text("short")
    assert "shorter than 16 characters" in fails("serve", "--api-key-file", "key")
    assert "cannot read the API key in none" in fails("serve", "--api-key-file", "none")


def test_values_that_make_no_sense(fails, monkeypatch):
    assert "--port" in fails("serve", "--port", "99999")
    assert "--threshold" in fails("serve", "--threshold", "nan")
    assert "max_waiting" in fails("serve", "--max-pairs", "5000")
    monkeypatch.setenv("PARAQD_SERVE_PORT", "many")
    assert "PARAQD_SERVE_PORT=many" in fails("serve")


def test_scoring_imports_nothing_of_the_server(imports):
    _, modules = imports("explain", "Tom has 5 pens. How many?", "How many pens has Tom, who has 5?")
    assert not {"fastapi", "uvicorn", "sqlalchemy", "httpx"} & modules
    assert not {"fastapi", "uvicorn", "sqlalchemy"} & imports("serve", "--help")[1]
