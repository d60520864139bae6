"""Write grades into nbgrader's own gradebook: one writer, one transaction for each submission.

The tables are nbgrader's (`nbgrader.api`), reached through SQLAlchemy: nbgrader's `Gradebook`
commits in two dozen places, so that an interruption leaves half a submission behind, and creates
a new file through a subprocess of seven seconds. What is written is what `nbgrader autograde`
writes; what a person wrote (manual scores, comments, extra credit) is never touched.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from course.quick import nbgrader_api
from course.template import Template, TemplateCell

COURSE_ID = "default_course"


class GradebookError(RuntimeError):
    """The gradebook cannot be used as it is; the message says how to go on."""


@dataclass(frozen=True)
class ManualScore:
    """What a person or the grader has entered for one graded cell."""

    grade_id: str
    auto_score: float | None
    manual_score: float | None
    extra_credit: float | None
    max_score: float
    needs_manual_grade: bool
    cell_type: str

    @property
    def score(self) -> float:
        """The points that count, as nbgrader counts them."""
        given = self.manual_score if self.manual_score is not None else self.auto_score
        return 0.0 if given is None else given + (self.extra_credit or 0.0)


@dataclass(frozen=True)
class Sheet:
    """All that the gradebook holds of one student's submission of one lesson."""

    student: str
    lesson: str
    name: str
    timestamp: datetime | None
    late_penalty: float
    grades: dict[str, ManualScore]
    comments: dict[str, str]

    @property
    def score(self) -> float:
        return max(0.0, sum(g.score for g in self.grades.values()) - self.late_penalty)

    @property
    def max_score(self) -> float:
        return sum(g.max_score for g in self.grades.values())

    @property
    def needs_manual_grade(self) -> bool:
        return any(g.needs_manual_grade for g in self.grades.values())


class Gradebook:
    """An open gradebook. Use it as a context manager.

    Args:
      path: `gradebook.db`; created, with nbgrader's schema, when it does not exist.

    Raises:
      GradebookError: the file is no gradebook, or of an older nbgrader.
    """

    def __init__(self, path: Path) -> None:
        from sqlalchemy import create_engine, event
        from sqlalchemy.orm import sessionmaker

        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(f"sqlite:///{path}", future=True, connect_args={"timeout": 60})

        @event.listens_for(self._engine, "connect")
        def _by_hand(connection: Any, _record: Any) -> None:
            # Transactions begin where we say: the driver would begin them at the first write,
            # too late for "read, then write" to be one step beside formgrader.
            connection.isolation_level = None

        @event.listens_for(self._engine, "begin")
        def _begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

        self._session = sessionmaker(bind=self._engine, future=True)
        self._create()

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._session() as session, session.begin():
            yield session

    def _create(self) -> None:
        """Nbgrader's tables, stamped with the revision that its migrations know as the newest."""
        from sqlalchemy import inspect, text
        from sqlalchemy.exc import DatabaseError

        api = nbgrader_api()
        try:
            with self._engine.begin() as connection:
                tables = set(inspect(connection).get_table_names())
                if not tables:
                    api.Base.metadata.create_all(bind=connection)
                    connection.execute(
                        text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
                    )
                    connection.execute(
                        text("INSERT INTO alembic_version VALUES (:head)"), {"head": schema_head()}
                    )
                elif "submitted_assignment" not in tables or not _current(connection, tables):
                    raise GradebookError(
                        f"{self.path} is of another version of nbgrader; "
                        "`nbgrader db upgrade` in that folder brings it up to date"
                    )
        except DatabaseError as error:
            raise GradebookError(
                f"{self.path} cannot be used as a gradebook ({error.orig}); "
                "move it away to start a new one"
            ) from None
        with self._transaction() as session:
            if session.get(api.Course, COURSE_ID) is None:
                session.add(api.Course(id=COURSE_ID))

    def register(self, lesson: Template) -> None:
        """Enter a lesson, or bring it up to date: its notebook and its cells.

        Raises:
          GradebookError: a graded cell that is gone from the lesson holds a person's scores.
        """
        api = nbgrader_api()
        with self._transaction() as session:
            assignment = _one(session, api.Assignment, name=lesson.lesson)
            if assignment is None:
                assignment = api.Assignment(name=lesson.lesson, course_id=COURSE_ID)
                session.add(assignment)
                session.flush()
            notebook = _one(session, api.Notebook, name=lesson.lesson, assignment_id=assignment.id)
            if notebook is None:
                notebook = api.Notebook(name=lesson.lesson, assignment_id=assignment.id)
                session.add(notebook)
            notebook.kernelspec = json.dumps(lesson.kernelspec)
            session.flush()
            for wanted in lesson.known.values():
                _enter_cell(api, session, notebook.id, wanted)
            _remove_others(api, session, notebook, lesson)

    def record(
        self,
        student: str,
        lesson: Template,
        graded: Mapping[str, Any],
        timestamp: datetime | None = None,
    ) -> None:
        """Enter one graded submission, whole or not at all.

        Args:
          graded: the graded notebook; nbgrader's own rules read the outputs of its cells.
          timestamp: when it was handed in, UTC without a zone.

        Raises:
          GradebookError: the lesson is not registered.
        """
        nbgrader_api()
        from nbformat import from_dict
        from nbgrader import utils

        cells = {
            cell.metadata.nbgrader["grade_id"]: cell
            for cell in from_dict(dict(graded)).cells
            if cell.metadata.get("nbgrader", {}).get("grade_id")
        }
        with self._transaction() as session:
            for notebook, submission, handed_in in self._submission(
                session, student, lesson, timestamp
            ):
                if notebook.name != lesson.lesson:
                    continue
                grades = {g.cell_id: g for g in handed_in.grades}
                comments = {c.cell_id: c for c in handed_in.comments}
                for cell in notebook.grade_cells:
                    _grade(grades[cell.id], cells.get(cell.name), utils)
                for cell in notebook.solution_cells:
                    if cell.name in cells:
                        same = utils.compute_checksum(cells[cell.name]) == cells[
                            cell.name
                        ].metadata.nbgrader.get("checksum")
                        comments[cell.id].auto_comment = "No response." if same else None
                session.flush()
                _late_penalty(session, submission, handed_in)

    def record_unread(
        self, student: str, lesson: Template, timestamp: datetime | None = None
    ) -> None:
        """Enter that a submission came which cannot be graded, as nbgrader does.

        Its cells have no score and ask for a person; a grade from an earlier submission stands.
        """
        with self._transaction() as session:
            self._submission(session, student, lesson, timestamp)

    def _submission(
        self, session: Any, student: str, lesson: Template, timestamp: datetime | None
    ) -> list[tuple[Any, Any, Any]]:
        """Find or make the rows of a submission: `(notebook, submission, submitted notebook)`."""
        api = nbgrader_api()
        assignment = _one(session, api.Assignment, name=lesson.lesson)
        if assignment is None:
            raise GradebookError(f"lesson {lesson.lesson!r} is not in {self.path}")
        if session.get(api.Student, student) is None:
            session.add(api.Student(id=student))
            session.flush()
        submission = _one(
            session, api.SubmittedAssignment, assignment_id=assignment.id, student_id=student
        )
        if submission is None:
            submission = api.SubmittedAssignment(assignment_id=assignment.id, student_id=student)
            session.add(submission)
        if timestamp is not None:
            submission.timestamp = timestamp
        session.flush()
        return [
            (notebook, submission, _handed_in(api, session, submission, notebook))
            for notebook in assignment.notebooks
        ]

    def sheets(self, lesson: str | None = None) -> list[Sheet]:
        """Every graded submission, by lesson and student."""
        api = nbgrader_api()
        from sqlalchemy import select

        with self._session() as session:
            query = (
                select(api.SubmittedNotebook, api.SubmittedAssignment, api.Assignment, api.Student)
                .join(
                    api.SubmittedAssignment,
                    api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id,
                )
                .join(api.Assignment, api.SubmittedAssignment.assignment_id == api.Assignment.id)
                .join(api.Student, api.SubmittedAssignment.student_id == api.Student.id)
                .order_by(api.Assignment.name, api.Student.id)
            )
            if lesson is not None:
                query = query.where(api.Assignment.name == lesson)
            rows = session.execute(query).all()
            grades = _grades_by_notebook(api, session)
            comments = _comments_by_notebook(api, session)
            return [
                Sheet(
                    student=student.id,
                    lesson=assignment.name,
                    name=" ".join(filter(None, (student.first_name, student.last_name))),
                    timestamp=submission.timestamp,
                    late_penalty=notebook.late_submission_penalty or 0.0,
                    grades=grades.get(notebook.id, {}),
                    comments=comments.get(notebook.id, {}),
                )
                for notebook, submission, assignment, student in rows
            ]

    def sheet(self, student: str, lesson: str) -> Sheet:
        """What is held of one submission.

        Raises:
          GradebookError: that student's submission of that lesson has not been graded.
        """
        for sheet in self.sheets(lesson):
            if sheet.student == student:
                return sheet
        raise GradebookError(f"no submission of {lesson!r} by {student!r} is in {self.path}")

    def students(self) -> dict[str, dict[str, str]]:
        """Every student: `{id: {"first_name", "last_name", "email"}}`, in the order of the ids."""
        api = nbgrader_api()
        from sqlalchemy import select

        with self._session() as session:
            return {
                s.id: {
                    "first_name": s.first_name or "",
                    "last_name": s.last_name or "",
                    "email": s.email or "",
                }
                for s in session.scalars(select(api.Student).order_by(api.Student.id))
            }


@functools.cache
def schema_head() -> str:
    """The newest revision of nbgrader's migrations: the one that no other builds on."""
    import importlib.util
    import re

    spec = importlib.util.find_spec("nbgrader")
    assert spec is not None
    assert spec.origin is not None
    revisions: set[str] = set()
    parents: set[str] = set()
    for path in (Path(spec.origin).parent / "alembic" / "versions").glob("*.py"):
        text = path.read_text()
        for name, into in (("revision", revisions), ("down_revision", parents)):
            match = re.search(rf"^{name}\s*=\s*['\"](\w+)['\"]", text, re.MULTILINE)
            if match:
                into.add(match.group(1))
    heads = revisions - parents
    if len(heads) != 1:
        raise GradebookError(f"nbgrader's migrations have {len(heads)} newest revisions, not one")
    return heads.pop()


def _current(connection: Any, tables: set[str]) -> bool:
    from sqlalchemy import text

    if "alembic_version" not in tables:
        return False
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    return list(found) == [schema_head()]


def _one(session: Any, model: Any, **filters: Any) -> Any:
    from sqlalchemy import select

    return session.scalars(select(model).filter_by(**filters)).one_or_none()


def _enter_cell(api: Any, session: Any, notebook_id: str, wanted: TemplateCell) -> None:
    """What nbgrader's `SaveCells` enters for one cell."""
    if wanted.graded:
        cell = _one(session, api.GradeCell, name=wanted.grade_id, notebook_id=notebook_id)
        if cell is None:
            cell = api.GradeCell(name=wanted.grade_id, notebook_id=notebook_id)
            session.add(cell)
        cell.max_score = float(wanted.metadata["points"])
        cell.cell_type = wanted.cell_type
    if wanted.solution and not _one(
        session, api.SolutionCell, name=wanted.grade_id, notebook_id=notebook_id
    ):
        session.add(api.SolutionCell(name=wanted.grade_id, notebook_id=notebook_id))
    source = _one(session, api.SourceCell, name=wanted.grade_id, notebook_id=notebook_id)
    if source is None:
        source = api.SourceCell(name=wanted.grade_id, notebook_id=notebook_id)
        session.add(source)
    source.cell_type = wanted.cell_type
    source.locked = wanted.locked
    source.source = wanted.source
    source.checksum = wanted.metadata.get("checksum")
    session.flush()


def _remove_others(api: Any, session: Any, notebook: Any, lesson: Template) -> None:
    """Forget cells that the lesson no longer has, unless a person's work hangs on them."""
    known = lesson.known
    kept = {("GradeCell", i) for i, c in known.items() if c.graded}
    kept |= {("SolutionCell", i) for i, c in known.items() if c.solution}
    session.refresh(notebook)
    for cell in list(notebook._base_cells):
        if (cell.type, cell.name) in kept:
            continue
        grades = session.query(api.Grade).filter_by(cell_id=cell.id).all()
        comments = session.query(api.Comment).filter_by(cell_id=cell.id).all()
        by_hand = [g for g in grades if g.manual_score is not None or g.extra_credit is not None]
        if by_hand or any(c.manual_comment for c in comments):
            raise GradebookError(
                f"{lesson.lesson}: cell {cell.name!r} is gone from the lesson, but the gradebook "
                "holds scores or comments that a person gave for it; put the cell back, or grade "
                "into a new gradebook (--root)"
            )
        for item in (*grades, *comments, cell):
            session.delete(item)
    for source in session.query(api.SourceCell).filter_by(notebook_id=notebook.id).all():
        if source.name not in known:
            session.delete(source)
    session.flush()


def _handed_in(api: Any, session: Any, submission: Any, notebook: Any) -> Any:
    """The submitted notebook with a grade for each graded cell and a comment for each solution."""
    found = _one(
        session, api.SubmittedNotebook, assignment_id=submission.id, notebook_id=notebook.id
    )
    if found is None:
        found = api.SubmittedNotebook(assignment_id=submission.id, notebook_id=notebook.id)
        session.add(found)
        session.flush()
    have = {g.cell_id for g in found.grades}
    for cell in (*notebook.grade_cells, *notebook.task_cells):
        if cell.id not in have:
            session.add(api.Grade(cell_id=cell.id, notebook_id=found.id))
    have = {c.cell_id for c in found.comments}
    for cell in (*notebook.solution_cells, *notebook.task_cells):
        if cell.id not in have:
            session.add(api.Comment(cell_id=cell.id, notebook_id=found.id))
    session.flush()
    session.refresh(found)
    return found


def _grade(grade: Any, cell: Any, utils: Any) -> None:
    """As nbgrader's `SaveAutoGrades`: a person's score stays, and asks to be looked at again."""
    if cell is None:
        grade.auto_score, grade.needs_manual_grade = 0.0, False
        return
    grade.auto_score, _ = utils.determine_grade(cell)
    grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None


def _late_penalty(session: Any, submission: Any, handed_in: Any) -> None:
    """As nbgrader's `AssignLatePenalties`, with the plugin that the configuration names."""
    handed_in.late_submission_penalty = None
    if submission.total_seconds_late <= 0:
        return
    from nbgrader.preprocessors import AssignLatePenalties

    from course.quick import nbgrader_config

    assigner = AssignLatePenalties(config=nbgrader_config())
    assigner.init_plugin()
    session.refresh(handed_in)
    penalty = assigner.plugin_inst.late_submission_penalty(
        submission.student_id, handed_in.score, submission.total_seconds_late
    )
    if penalty is not None:
        handed_in.late_submission_penalty = assigner._check_late_penalty(handed_in, penalty)


def _grades_by_notebook(api: Any, session: Any) -> dict[str, dict[str, ManualScore]]:
    from sqlalchemy import select

    query = select(
        api.Grade.notebook_id,
        api.GradeCell.name,
        api.Grade.auto_score,
        api.Grade.manual_score,
        api.Grade.extra_credit,
        api.GradeCell.max_score,
        api.Grade.needs_manual_grade,
        api.GradeCell.cell_type,
    ).join(api.GradeCell, api.Grade.cell_id == api.GradeCell.id)
    found: dict[str, dict[str, ManualScore]] = {}
    for notebook_id, *rest in session.execute(query.order_by(api.GradeCell.name)):
        found.setdefault(notebook_id, {})[rest[0]] = ManualScore(*rest)
    return found


def _comments_by_notebook(api: Any, session: Any) -> dict[str, dict[str, str]]:
    from sqlalchemy import select

    query = select(api.Comment.notebook_id, api.SolutionCell.name, api.Comment.comment).join(
        api.SolutionCell, api.Comment.cell_id == api.SolutionCell.id
    )
    found: dict[str, dict[str, str]] = {}
    for notebook_id, name, comment in session.execute(query.order_by(api.SolutionCell.name)):
        if comment:
            found.setdefault(notebook_id, {})[name] = comment
    return found
