"""What `nbgrader_config.py` plugs into nbgrader's own commands and formgrader.

Traits are nbgrader's; the work is done by the modules that `python -m course` uses.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from nbgrader.preprocessors import NbGraderPreprocessor

from course.files import write_whole
from course.intake import read_submission, submission_in
from course.repair import repair


class RepairSubmission(NbGraderPreprocessor):
    """The first step of `Autograde.sanitize_preprocessors`: `course.repair.repair`.

    Raises:
      NotThisLesson: nothing in the notebook belongs to the assignment; nbgrader goes on with the
        next student.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        made, problems = repair(nb, resources["nbgrader"]["assignment"])
        for problem in problems:
            self.log.warning("%s: %s", problem.kind, problem.message)
        made["metadata"]["mjcourse"]["repaired"] = [
            {"kind": p.kind, "message": p.message} for p in problems
        ]
        return from_dict(made), resources


def name_submission(assignment: str, student: str, notebooks: list[str]) -> None:
    """`Autograde.pre_convert_hook`: give a renamed notebook the name that nbgrader looks for.

    nbgrader skips "Copy of rotations.ipynb". The one that counts (`course.intake`) is copied to
    `<assignment>.ipynb` beside it, and `notebooks`, which is nbgrader's own list, then names it.
    """
    if not notebooks:
        return
    folder = Path(notebooks[0]).parent
    wanted = folder / f"{folder.name}.ipynb"
    submission = submission_in(folder)
    if len(submission.files) == 1 and submission.files[0].name == wanted.name:
        return
    chosen = read_submission(submission).path
    if chosen is not None and chosen.name != wanted.name:
        write_whole(wanted, chosen.read_bytes())
    if wanted.is_file():
        notebooks[:] = [str(wanted)]


def finish_release(assignment: str, student: str, notebooks: list[str]) -> None:
    """`GenerateAssignment.post_convert_hook`: the release in the bytes that a release has here.

    nbgrader writes the same cells with other line breaks; `release --check` would find a change.
    """
    from course.release.build import release_lessons

    release_lessons([assignment])


class StudentPage(NbGraderPreprocessor):
    """The only step of `GenerateFeedback.preprocessors`: `course.feedback.student_page`.

    The page goes to the template `course/templates/mjcourse` as `resources.mjcourse_page`.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        from course.exercises import lesson as find_lesson
        from course.feedback import student_page
        from course.gradebook import Gradebook
        from course.template import template

        about = resources["nbgrader"]
        path = Path(about["db_url"].removeprefix("sqlite:///"))
        with Gradebook(path) as gradebook:
            sheet = gradebook.sheet(about["student"], about["assignment"])
        lesson = template(about["assignment"])
        title = find_lesson(about["assignment"]).title
        resources["mjcourse_page"] = student_page(nb, sheet, lesson, title)
        return nb, resources
