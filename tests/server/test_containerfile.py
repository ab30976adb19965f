"""The steps of the Containerfile work as far as they can be run without a container engine."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path, PurePosixPath

import pytest

from paraqd.server.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
KEY = "a-long-key-for-tests-only"


def instructions():
    """Return the instructions of the Containerfile as pairs of a word and the rest."""
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    return [
        (word, " ".join(rest.split())) for word, _, rest in (line.partition(" ") for line in text.splitlines()) if word
    ]


def values(word):
    return [rest for found, rest in instructions() if found == word]


def copied():
    """Return the paths that are copied from the repository, each with its place."""
    for rest in values("COPY"):
        *sources, target = rest.split()
        if not sources[0].startswith("--from"):
            yield from ((source, source if target == "./" else target) for source in sources)


def environment():
    (text,) = values("ENV")
    return dict(word.split("=", 1) for word in shlex.split(text))


def is_ignored(path):
    """Return True if .dockerignore excludes a path: the last pattern that matches it or a folder above decides."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.lstrip("!").removeprefix("**/")
        above = [str(each) for each in (PurePosixPath(path), *PurePosixPath(path).parents)][:-1]
        names = [PurePosixPath(each).name for each in above] if "**/" in line else above
        if line and not line.startswith("#") and any(_fits(name, pattern) for name in names):
            ignored = not line.startswith("!")
    return ignored


def _fits(name, pattern):
    return name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern)


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """Return a folder with what the Containerfile copies and .dockerignore does not exclude."""
    folder = tmp_path_factory.mktemp("context")
    for source, target in copied():
        place = ROOT / source
        for path in [place] if place.is_file() else place.rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and not is_ignored(name):
                to = folder / target / path.relative_to(place)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.symlink_to(path)
    return folder


@pytest.fixture(scope="module")
def site(context, tmp_path_factory):
    """Install paraqd from the copied files, without its dependencies, and return the folder."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command += ["--disable-pip-version-check", "--no-compile", "--target", str(folder), str(context)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_what_is_copied_exists_and_is_sent_to_the_engine():
    assert [source for source, _ in copied() if not (ROOT / source).exists() or is_ignored(source)] == []
    for private in (".git/config", ".venv/bin/python", "models/mine/model.safetensors", "datasets/styles/README.md"):
        assert is_ignored(private)
    assert is_ignored("src/paraqd/__pycache__/version.pyc") and is_ignored("src/paraqd.egg-info/PKG-INFO")
    assert not is_ignored("src/paraqd/version.py")


def test_the_commands_of_pip_name_what_exists(context):
    (build, _) = values("RUN")
    installed = [shlex.split(step) for step in build.split(" && ") if "pip install" in step]
    pins = dict(re.findall(r"^([\w-]+)==(.+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE))
    assert installed
    for words in installed:
        for word in words[2:]:
            name, _, extras = word.rstrip("]").partition("[")
            if word.endswith(".txt") or word.startswith("./"):
                assert (context / word).exists(), word
            elif name == ".":
                assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"]), word
            elif not word.startswith("-"):
                assert name in pins, f"{word} has no version in constraints.txt"
    versions = {re.search(r"python:(\d\.\d+)", rest)[1] for rest in values("FROM")}
    assert [f"Programming Language :: Python :: {each}" in PROJECT["classifiers"] for each in versions] == [True]


def test_the_server_knows_every_variable():
    known = {PREFIX + field.name.upper() for field in fields(Settings)} | {f"{PREFIX}API_KEY_FILE"}
    assert {name for name in environment() if name.startswith("PARAQD")} - known == set()


def test_the_installed_package_is_complete(context, site):
    package = context / "src" / "paraqd"
    files = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert {name for name in files if not (site / "paraqd" / name).is_file()} == set()
    assert "reading/data/README.md" in files and len(files) > 400
    assert list(site.glob("paraqd-*.dist-info/licenses/LICENSE")) != []


def test_the_server_starts_is_healthy_and_stops(site, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    places = {"/data": str(tmp_path), "/run/secrets": str(tmp_path), "8080": port}

    def here(text):
        for there, place in places.items():
            text = text.replace(there, place)
        return text

    given = {name: here(value) for name, value in environment().items()}
    given |= {"PATH": f"{site / 'bin'}{os.pathsep}{Path(sys.executable).parent}", "PYTHONPATH": str(site)}
    given |= {f"{PREFIX}DRAIN_SECONDS": "0"}
    (command,) = values("CMD")
    check = re.search(r"CMD (\[.*\])", values("HEALTHCHECK")[0])[1]
    run = {"cwd": tmp_path, "env": given, "stderr": subprocess.PIPE, "text": True}

    def is_healthy():
        return subprocess.run(json.loads(here(check)), check=False, **run).returncode == 0

    refused = subprocess.run(json.loads(command), check=False, **run)
    assert refused.returncode == 2 and "cannot read the API key" in refused.stderr
    (tmp_path / "paraqd.key").write_text(KEY, encoding="utf-8")
    with subprocess.Popen(json.loads(command), **run) as process:
        try:
            lines = iter(process.stderr.readline, "")
            assert any("serves at" in line for line in lines)
            assert is_healthy() and (tmp_path / "review.sqlite").is_file()
            process.send_signal(signal.Signals[values("STOPSIGNAL")[0]])
            process.communicate(timeout=60)
            assert process.returncode == 0 and not is_healthy()
        finally:
            process.kill()
