import json
import sqlite3

import pytest

from paraqd.cli.main import run
from paraqd.server.review.database import open_database
from paraqd.server.review.decisions import decide
from paraqd.server.review.new_projects import listed_rows
from paraqd.server.review.projects import NewProject, create_project, get_project

PAIRS = [{"question": "How many are 2 and 3?", "paraphrase": "What is the sum of 2 and 3?"}]


@pytest.fixture
def stored(tmp_path):
    """Return the path of a database, which stays open, and the id of its project."""
    path = tmp_path / "review.sqlite"
    database = open_database(path)
    project = create_project(database, NewProject("Sums", 0.5), listed_rows(PAIRS, 10))
    decide(database, project, "Ann", 1, "accept", "good")
    yield path, project
    database.close()


def test_a_backup_has_everything_and_is_one_file(stored, tmp_path, capsys):
    path, project = stored
    out = tmp_path / "copies" / "copy.sqlite"
    out.parent.mkdir()
    assert run(["serve", "backup", str(out), "--database", str(path)]) == 0
    assert "wrote" in capsys.readouterr().err
    assert [each.name for each in out.parent.iterdir()] == ["copy.sqlite"]
    copy = open_database(out)
    assert get_project(copy, project)["status"]["accepted"] == 1
    copy.close()


def test_a_backup_replaces_nothing_unasked(stored, tmp_path, fails):
    out = tmp_path / "copy.sqlite"
    out.write_text("mine")
    assert "already exists" in fails("serve", "backup", out, "--database", stored[0])
    assert out.read_text() == "mine"
    assert run(["serve", "backup", str(out), "--database", str(stored[0]), "--overwrite", "--quiet"]) == 0
    with sqlite3.connect(out) as copy:
        assert copy.execute("SELECT count(*) FROM votes").fetchone() == (1,)


def test_postgresql_is_backed_up_with_its_own_program(tmp_path, fails):
    assert "pg_dump" in fails(
        "serve", "backup", tmp_path / "copy.sqlite", "--database", "postgresql://localhost/review"
    )


def test_projects_are_listed(stored, capsys):
    path, project = stored
    assert run(["serve", "projects", "--database", str(path)]) == 0
    assert f"{project}  " in (shown := capsys.readouterr().out) and "1 pair, 1 decided" in shown and "Sums" in shown
    assert run(["serve", "--database", str(path), "projects", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["projects"][0]["id"] == project


@pytest.mark.parametrize("by", ["id", "name"])
def test_a_project_is_deleted_by_its_id_or_name(stored, capsys, fails, by):
    path, project = stored
    assert "--yes" in fails("serve", "delete", project, "--database", path)
    assert run(["serve", "delete", project if by == "id" else "Sums", "--yes", "--database", str(path)]) == 0
    assert "deleted Sums" in capsys.readouterr().err
    assert "there is no project" in fails("serve", "delete", project, "--yes", "--database", path)


def test_a_name_that_two_projects_have_is_refused(stored, fails):
    database = open_database(stored[0])
    create_project(database, NewProject("Sums", 0.5), listed_rows(PAIRS, 10))
    database.close()
    assert "2 projects have the name 'Sums'" in fails("serve", "delete", "Sums", "--yes", "--database", stored[0])


def test_a_database_that_does_not_exist_is_not_made(tmp_path, fails):
    for command in (["projects"], ["delete", "x", "--yes"], ["backup", tmp_path / "out.sqlite"]):
        assert "there is no database" in fails("serve", *command, "--database", tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []
