"""No decision is lost: not with several threads, not with several processes, and not if one is killed."""

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import func, select

from paraqd.server.review.decisions import decide_all, read_log, undo
from paraqd.server.review.filters import Filter
from paraqd.server.review.pairs import list_pairs, next_pair
from paraqd.server.review.projects import get_project
from paraqd.server.review.tables import votes

# decides about pairs in turn, and writes the number of each pair after the decision is stored
PROGRAM = """
import sys
from paraqd.server.review.database import open_database
from paraqd.server.review.decisions import decide
address, project, reviewer, count = sys.argv[1:]
database = open_database(address)
for n in range(1, int(count) + 1):
    decide(database, project, reviewer, n, "accept", f"note {n}")
    print(n, flush=True)
"""


def start(address, project, reviewer, count):
    command = [sys.executable, "-c", PROGRAM, address, project, reviewer, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_threads_and_processes_write_at_once(database, address, make, vote):
    project = make(40, score=False, votes_needed=2)
    others = [start(address, project, name, 40) for name in ("Ann", "Ben")]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: vote(project, "Cy", n, "reject", f"note {n}"), range(1, 41)))
    for other in others:
        out, err = other.communicate(timeout=60)
        assert (other.returncode, err) == (0, "") and len(out.split()) == 40
    assert sorted(answer["undo"] for answer in answers) == list(range(1, 41))
    with database.reading() as connection:
        query = select(votes.c.reviewer, func.count()).group_by(votes.c.reviewer).where(votes.c.project == project)
        assert {row[0]: row[1] for row in connection.execute(query)} == {"Ann": 40, "Ben": 40, "Cy": 40}
    # two accepts against one reject: every status was derived from all three votes
    assert get_project(database, project)["status"]["accepted"] == 40
    assert len(read_log(database, project, "Cy", limit=1000)["events"]) == 120


def test_what_was_answered_survives_a_kill(database, address, make):
    project = make(400, score=False)
    process = start(address, project, "Ann", 400)
    answered = [int(process.stdout.readline()) for _ in range(25)]
    process.send_signal(signal.SIGKILL)
    answered += map(int, process.communicate(timeout=60)[0].split())
    assert process.returncode == -signal.SIGKILL
    found = list_pairs(database, project, Filter(status=("accepted",)), limit=1000)["pairs"]
    assert {pair["n"] for pair in found} >= set(answered)
    assert all(pair["votes"][0]["note"] == f"note {pair['n']}" for pair in found)
    steps = get_project(database, project, "Ann")["undo"]
    assert steps == len(found) == len(read_log(database, project, "Ann", limit=1000)["events"])
    assert undo(database, project, "Ann")["changed"] == [len(found)]


def test_two_reviewers_never_get_the_same_pair(database, make):
    project = make(30)

    def work(reviewer):
        return [next_pair(database, project, Filter(), reviewer, n)["pair"]["n"] for n in range(10)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, ("Ann", "Ben", "Cy", "Dee")))
    claimed = [pair["claimed_by"] for pair in list_pairs(database, project, Filter(), limit=100)["pairs"]]
    assert sorted(filter(None, claimed)) == ["Ann", "Ben", "Cy", "Dee"]


def test_bulk_decisions_and_single_ones_take_turns(database, make, vote):
    project = make(50, score=False)

    def bulk(reviewer):
        return decide_all(database, project, reviewer, Filter(), "reject", expected=50)["changed"]

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(bulk, name) for name in ("Ann", "Ben")]
        waiting += [pool.submit(vote, project, "Ann", n) for n in range(1, 11)]
        results = [each.result() for each in waiting]
    assert results[1] == 50 and json.dumps(results)
    assert get_project(database, project, "Ann")["undo"] == 11
    assert sum(get_project(database, project)["status"].values()) == 50
