"""A download is complete and of the right hash, or leaves nothing behind; tried on a server of this process."""

import hashlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from paraqd.files import sha256_of
from paraqd.lab.corpora.download import DatasetError, download, expected_sha256, record_of
from paraqd.tables.registry import DataFile

CONTENT = b"question,paraphrase,label\n" + b"How many?,How many are there?,1\n" * 5000
HASH = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        if self.path != "/unknown_length.csv":
            self.send_header("Content-Length", str(len(content) + (100 if self.path == "/cut.csv" else 0)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.files = {"/pairs.csv": CONTENT, "/cut.csv": CONTENT, "/unknown_length.csv": CONTENT}
    made.url = f"http://127.0.0.1:{made.server_port}"
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def file(server, name="pairs.csv", sha256=None):
    return DataFile(name, url=f"{server.url}/{name}", sha256=sha256)


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_good_download(server, tmp_path):
    steps = []
    path = tmp_path / "cache" / "pairs.csv"
    found = download(file(server, sha256=HASH), path, progress=lambda *step: steps.append(step))
    assert found == HASH == sha256_of(path)
    assert path.read_bytes() == CONTENT
    assert steps[0] == ("downloading pairs.csv", 0, len(CONTENT))
    assert steps[-1] == ("downloading pairs.csv", len(CONTENT), len(CONTENT))
    assert left_in(path.parent) == ["pairs.csv"], "a known hash needs no record"


def test_a_wrong_hash_is_an_error_and_the_file_is_removed(server, tmp_path):
    path = tmp_path / "pairs.csv"
    with pytest.raises(DatasetError, match=rf"is not the known file \(sha256 {HASH}, not 0000"):
        download(file(server, sha256="0" * 64), path)
    assert left_in(tmp_path) == []


def test_an_unknown_hash_is_recorded_and_checked_ever_after(server, tmp_path):
    path = tmp_path / "pairs.csv"
    assert expected_sha256(file(server), path) is None
    download(file(server), path)
    assert json.loads(record_of(path).read_text()) == {
        "url": f"{server.url}/pairs.csv",
        "sha256": HASH,
        "bytes": len(CONTENT),
    }
    assert expected_sha256(file(server), path) == HASH
    path.unlink()
    server.files["/pairs.csv"] = CONTENT + b"one more row"
    with pytest.raises(DatasetError, match="is not the file of the first download"):
        download(file(server), path)
    assert not path.exists()
    record_of(path).unlink()
    download(file(server), path)
    assert path.exists()


def test_a_damaged_record_is_named(server, tmp_path):
    path = tmp_path / "pairs.csv"
    record_of(path).write_text("{half")
    with pytest.raises(DatasetError, match=r"pairs\.csv\.download\.json is damaged"):
        download(file(server), path)


def test_a_server_that_does_not_say_how_much_there_is(server, tmp_path):
    steps = []
    download(file(server, "unknown_length.csv", HASH), tmp_path / "x.csv", progress=lambda *step: steps.append(step))
    assert steps[-1] == ("downloading unknown_length.csv", len(CONTENT), None)


@pytest.mark.parametrize("name", ["pairs.csv", "unknown_length.csv"])
def test_too_large_a_file_is_refused(server, tmp_path, name):
    with pytest.raises(DatasetError, match=r"than the limit of 1,000"):
        download(file(server, name), tmp_path / name, limit=1000)
    assert left_in(tmp_path) == []


def test_a_download_that_breaks_off(server, tmp_path):
    with pytest.raises(DatasetError, match="was interrupted"):
        download(file(server, "cut.csv"), tmp_path / "cut.csv")
    assert left_in(tmp_path) == []


def test_what_is_not_on_the_server(server, tmp_path):
    with pytest.raises(DatasetError, match=r"the server returned 404 .* put it at .*none\.csv"):
        download(file(server, "none.csv"), tmp_path / "none.csv")
    assert left_in(tmp_path) == []


def test_no_network_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as free:  # bound but not listening: a port where nobody answers
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/pairs.csv"
        with pytest.raises(DatasetError, match="cannot reach") as error:
            download(DataFile("pairs.csv", url=url), tmp_path / "pairs.csv")
    assert "\n" not in str(error.value) and "put it at" in str(error.value)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("moment", ["begin", "middle"])
def test_ctrl_c_leaves_nothing_behind(server, tmp_path, moment):
    def interrupt(stage, done, total):
        if moment == "begin" or done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(file(server), tmp_path / "pairs.csv", progress=interrupt)
    assert left_in(tmp_path) == []


def test_a_folder_that_cannot_be_written(server, tmp_path):
    (tmp_path / "taken").write_text("a file where the folder should be")
    with pytest.raises(DatasetError, match=r"cannot write to .*taken"):
        download(file(server), tmp_path / "taken" / "pairs.csv")
