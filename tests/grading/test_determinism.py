"""The same submission gives the same grade and the same words, every time."""

from __future__ import annotations

import json

import pytest

from course.grading.apart import ForkServer
from course.grading.pool import grade_all
from tests.grading import yard
from tests.grading.test_pool import jobs

RANDOM = """
import random, uuid
rng = np.random.default_rng()
print(random.random(), np.random.rand(), rng.normal(), {"a", "b", "c", "d"}, hash("text"))
print([object(), type])
"""


def said(graded) -> str:
    results = [(r.exercise, r.points, r.misconceptions, r.messages) for r in graded.results]
    return json.dumps([graded.notebook, results, graded.problems], sort_keys=True)


def test_unseeded_randomness_and_sets_give_the_same_text_in_another_process(grade):
    notebook = yard.notebook({"kinetic": yard.WRONG["kinetic"]}, last=RANDOM)
    other = ForkServer()
    try:
        texts = {said(grade(notebook)), said(grade(notebook)), said(grade(notebook, server=other))}
    finally:
        other.close()
    assert len(texts) == 1


def test_a_submission_does_not_depend_on_the_one_before_it(grade):
    notebook = yard.notebook(last=RANDOM)
    first = said(grade(notebook))
    grade(yard.notebook(first="np = None\nimport sys\nsys.setrecursionlimit(90)\nx = 7"))
    assert said(grade(notebook)) == first


def test_a_stopped_cell_gives_the_same_text_every_time(grade):
    notebook = yard.notebook(first="import os\nos._exit(1)", last=RANDOM)
    assert said(grade(notebook)) == said(grade(notebook))


@pytest.mark.slow
def test_one_worker_and_four_say_the_same():
    alone = {key: said(graded) for key, graded in grade_all(jobs(6), workers=1)}
    four = {key: said(graded) for key, graded in grade_all(jobs(6), workers=4)}
    assert alone == four
