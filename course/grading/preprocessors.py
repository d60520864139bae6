"""Our executor in the place of nbgrader's `Execute`, for `nbgrader autograde` and formgrader."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Float, Integer

from course.grading.apart import Limits
from course.grading.executor import grade_notebook
from course.records import Problem, attach


class ExecuteApart(NbGraderPreprocessor):
    """Run the student's cells in a confined process and the graded cells here.

    The outputs are what nbgrader's `SaveAutoGrades` reads: a float as the result of each graded
    cell. There is no kernel; a notebook of any kernel is run as Python.
    """

    timeout = Float(
        Limits.cell_s, help="Seconds that one cell of a student may take before it is stopped."
    ).tag(config=True)

    call_timeout = Float(
        Limits.call_s, help="Seconds that one batch of calls of a hidden test may take."
    ).tag(config=True)

    notebook_timeout = Float(
        Limits.total_s, help="Seconds that all of a submission may take together."
    ).tag(config=True)

    memory_mb = Integer(
        Limits.memory_mb, help="Megabytes that a submission may use beyond a fresh process."
    ).tag(config=True)

    trust_submissions = Bool(
        False,
        help="Run submissions also on a machine that cannot confine them. Off: it refuses.",
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        lesson = resources["nbgrader"]["assignment"]
        limits = Limits(
            cell_s=self.timeout,
            call_s=self.call_timeout,
            total_s=self.notebook_timeout,
            memory_mb=self.memory_mb,
        )
        graded = grade_notebook(nb, lesson, limits=limits, trust_submissions=self.trust_submissions)
        for problem in graded.problems:
            self.log.warning("%s", problem)
        problems = [Problem(_kind(p), p, lesson) for p in graded.problems]
        attach(graded.notebook, graded.results, problems)
        return graded.notebook, resources


def _kind(problem: str) -> str:
    return "grader_failed" if problem.startswith("the grader failed") else "grading"
