"""Grade one notebook: a pure function of it, with the student's code in a process of its own.

    graded = grade_notebook(notebook, "rotations")
    graded.notebook, graded.results, graded.problems

The student's cells run in order in a confined process (`course.grading.apart`). At each graded
cell the *course's own* source of that cell runs here, and `grade(lesson, exercise)` inside it
scores through the door. What stands in the submission's graded cell is never run.

A cell or a call that is stopped (time, crash, memory) costs what depends on it: the process is
started again, and the cells that ran are run again without the stopped one.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import copy
import functools
import io
import json
import re
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nh3
import numpy as np

from course.exercises import LESSONS
from course.exercises import lesson as find_lesson
from course.exercises.exercise import Exercise, Lesson
from course.grading import evidence, grading_with, messages, wire
from course.grading.apart import ForkServer, Limits, Stopped, Student, WireDoor, warm_server
from course.grading.score import (
    PartResult,
    Prepared,
    Result,
    prepare,
    prepared,
    score_with_follow_through,
)
from course.grading.tidy import tidy, without_addresses
from course.paths import source_path

LIMITS = Limits()

_TEST = "test_"
_DEFAULT_TEST = 'from course.grading import grade\n\ngrade("{lesson}", "{exercise}")\n'
_OUTPUT_CHARACTERS = 250_000
_STREAM_CHARACTERS = 200_000


@dataclass
class GradedNotebook:
    """A graded submission.

    Attributes:
      notebook: with new outputs; the graded cells hold the points as nbgrader reads them.
      results: of all exercises that are graded automatically, in the order of the lesson.
      problems: what went wrong, in words, for the instructor.
    """

    notebook: Any
    results: list[Result]
    problems: list[str] = field(default_factory=list)

    @property
    def points(self) -> float:
        return float(sum(result.points for result in self.results))


def grade_notebook(
    notebook: Mapping[str, Any],
    lesson_id: str | Lesson,
    *,
    limits: Limits = LIMITS,
    trust_submissions: bool = False,
    tests: Mapping[str, str] | None = None,
    server: ForkServer | None = None,
) -> GradedNotebook:
    """Run and grade a repaired notebook; the notebook given is not changed.

    Args:
      notebook: of nbformat 4 (a `NotebookNode` or plain dicts), repaired by `course.intake`.
      lesson_id: the lesson that it is a submission of.
      limits: on time, memory and disk.
      trust_submissions: run it also where it cannot be confined.
      tests: the course's own source of each graded cell, by grade id; those of the generated
        notebook of the lesson, unless given.
      server: the fork server to use; this process's own unless given.

    Raises:
      SandboxMissing: it cannot be confined here, and submissions are not trusted.
      KeyError: there is no such lesson.
    """
    lesson = find_lesson(lesson_id) if isinstance(lesson_id, str) else lesson_id
    own_tests = test_sources(lesson.id) if tests is None else tests
    run = _Run(copy.deepcopy(notebook), lesson, own_tests, limits, server, trust_submissions)
    try:
        return run.grade()
    finally:
        run.session.close()


def test_sources(lesson_id: str) -> Mapping[str, str]:
    """The sources of the graded cells in the lesson's generated notebook, by grade id."""
    path = source_path(lesson_id)
    return _graded_cells(path, path.stat().st_mtime_ns) if path.is_file() else {}


@functools.lru_cache(maxsize=16)
def _graded_cells(path: Path, changed: int) -> Mapping[str, str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    graded = [c for c in cells if c["cell_type"] == "code" and _about(c).get("grade")]
    return {_about(c)["grade_id"]: _source(c) for c in graded if not _about(c).get("solution")}


def _about(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """The cell's nbgrader metadata."""
    about = cell.get("metadata", {}).get("nbgrader", {})
    return about if isinstance(about, Mapping) else {}


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


class Session:
    """The student's cells in a process that is started again after a stop.

    Args:
      server: gives the processes, when the first one is needed.
    """

    def __init__(self, server: ForkServer | None, limits: Limits, trust: bool) -> None:
        self._server, self._limits, self._trust = server, limits, trust
        self._student: Student | None = None
        self._ran: list[tuple[str, int]] = []
        self._spent = 0.0
        self._restarts = 0

    def run_cell(self, source: str, number: int) -> list[dict[str, Any]]:
        """Run one cell, of that number, and return its outputs.

        Raises:
          Stopped: it was stopped; cells before it are run again when they are next needed.
        """
        student = self.student()
        try:
            outputs = self._run(student, source, number)
        except Stopped:
            self._forget()
            raise
        self._ran.append((source, number))
        return outputs

    def student(self) -> Student:
        """The process, with all cells run that ran so far.

        Raises:
          Stopped: the submission's time is used up.
        """
        while self._student is None or self._student.ended:
            self._forget()
            self._check_time()
            server = self._server or warm_server(self._trust)
            self._student = server.spawn(self._limits)
            for place, (source, number) in enumerate(list(self._ran)):
                try:
                    self._run(self._student, source, number)
                except Stopped:
                    # It ran the first time; it is left out from now on.
                    del self._ran[place]
                    break
        self._check_time()
        return self._student

    def close(self) -> None:
        """End the process."""
        if self._student is not None:
            self._student.end()

    def _run(self, student: Student, source: str, number: int) -> list[dict[str, Any]]:
        self._check_time()
        try:
            packed = wire.pack(source)
        except (wire.WireError, UnicodeEncodeError) as trouble:
            return [_error_output("UnreadableCell", str(trouble), [])]
        student.send(messages.RUN_CELL, packed, wire.pack(number))
        kind, parts = student.receive(student.clock(self._limits.cell_s), "the cell")
        if kind != messages.CELL_RAN or len(parts) != 1:
            raise student.stop("MalformedReply", "it sent back something malformed")
        return clean_outputs(parts[0], student.scratch)

    def _forget(self) -> None:
        if self._student is not None:
            self._student.end()
            self._spent += self._student.spent
            self._student = None
            self._restarts += 1

    def _check_time(self) -> None:
        now = 0.0 if self._student is None else self._student.spent
        if self._spent + now > self._limits.total_s or self._restarts > 60:
            if self._student is not None:
                self._forget()
            raise Stopped("TimeLimit", "the notebook has used up all of its time")


def clean_outputs(packed: bytes, scratch: str = "") -> list[dict[str, Any]]:
    """Outputs of a student's cell, made harmless: known kinds, bounded, HTML without scripts.

    Args:
      packed: what the student process sent.
      scratch: its folder, whose name no text shows.
    """
    try:
        said = wire.unpack(packed)
    except wire.WireError as trouble:
        return [_error_output("MalformedReply", str(trouble), [])]
    left = _OUTPUT_CHARACTERS
    clean: list[dict[str, Any]] = []

    def text(value: Any) -> str:
        nonlocal left
        kept = str(value)[: max(left, 0)] if isinstance(value, str) else ""
        left -= len(kept)
        kept = without_addresses(kept.encode("utf-8", "replace").decode())
        return kept.replace(scratch, ".") if scratch else kept

    for output in said if isinstance(said, list) else []:
        match output:
            case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": words}:
                clean.append({"output_type": "stream", "name": name, "text": text(words)})
            case {
                "output_type": "error",
                "ename": name,
                "evalue": value,
                "traceback": list(lines),
            }:
                trace = [tidy(text(line)) for line in lines[:40]]
                clean.append(_error_output(text(name), tidy(text(value)), trace))
            case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data)}:
                shown = _clean_data(data, text)
                if shown:
                    made: dict[str, Any] = {"output_type": kind, "data": shown, "metadata": {}}
                    if kind == "execute_result":
                        count = output.get("execution_count")
                        made["execution_count"] = count if type(count) is int else None
                    clean.append(made)
    return clean


def _clean_data(data: Mapping[Any, Any], text: Any) -> dict[str, str]:
    shown = {}
    for mime in ("text/plain", "text/html", "image/png", "image/jpeg"):
        content = text(data[mime]) if mime in data else ""
        if mime == "text/html":
            content = nh3.clean(content)
        elif mime.startswith("image/"):
            try:
                base64.b64decode(content, validate=False)
                content = re.sub(r"[^A-Za-z0-9+/=]", "", content)
            except (binascii.Error, ValueError):
                content = ""
        if content:
            shown[mime] = content
    return shown


def _error_output(name: str, text: str, trace: Sequence[str]) -> dict[str, Any]:
    lines = list(trace) or [f"{name}: {text}"]
    return {"output_type": "error", "ename": name, "evalue": text, "traceback": lines}


class _Run:
    """Grading one notebook from its first cell to its last."""

    def __init__(
        self,
        notebook: Any,
        lesson: Lesson,
        tests: Mapping[str, str],
        limits: Limits,
        server: ForkServer | None,
        trust: bool,
    ) -> None:
        self._notebook, self._lesson, self._tests = notebook, lesson, tests
        self._limits = limits
        self.session = Session(server, limits, trust)
        self._results: dict[str, Result] = {}
        self._problems: list[str] = []
        self._sources: list[tuple[str, str]] = []
        self._count = 0

    def grade(self) -> GradedNotebook:
        for cell in self._notebook["cells"]:
            if cell.get("cell_type") != "code":
                continue
            self._count += 1
            about = _about(cell)
            exercise = self._tested(about)
            if exercise is not None and exercise.id not in self._results:
                self._test(cell, exercise)
            elif exercise is not None or _is_left_out(about):
                self._show(cell, [], None)
            else:
                self._run_student_cell(cell)
        for exercise in self._automatic():
            if exercise.id not in self._results:
                self._problems.append(f"the graded cell {_TEST}{exercise.id} was missing")
                self._score(exercise)
        results = [self._results[e.id] for e in self._automatic()]
        return GradedNotebook(self._notebook, results, self._problems)

    def _automatic(self) -> list[Exercise]:
        return [e for e in self._lesson.exercises if e.parts]

    def _tested(self, about: Mapping[str, Any]) -> Exercise | None:
        """The exercise whose graded cell this is."""
        id = about.get("grade_id")
        if not isinstance(id, str) or not id.startswith(_TEST):
            return None
        for exercise in self._automatic():
            if _TEST + exercise.id == id:
                return exercise
        return None

    def _run_student_cell(self, cell: Any) -> None:
        source = _source(cell)
        self._sources.append((str(_about(cell).get("grade_id", "")), source))
        if not source.strip():
            self._show(cell, [], None)
            return
        try:
            outputs = self.session.run_cell(source, self._count)
        except Stopped as stopped:
            reason = f"{stopped.error.message}; the rest of the notebook is graded without it"
            outputs = [_error_output(stopped.error.kinds[0], reason, [])]
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = self._count
        self._show(cell, outputs, self._count)

    def _test(self, cell: Any, exercise: Exercise) -> None:
        """Run the course's own graded cell here, and show the result as its output."""
        id = _TEST + exercise.id
        default = _DEFAULT_TEST.format(lesson=self._lesson.id, exercise=exercise.id)
        source = self._tests.get(id, default)
        cell["source"] = source
        said = io.StringIO()
        aside = io.StringIO()

        def grader(lesson_id: str, exercise_id: str) -> float:
            if (lesson_id, exercise_id) != (self._lesson.id, exercise.id):
                raise ValueError(f"{id} grades {lesson_id}/{exercise_id}")
            if exercise.id not in self._results:
                self._score(exercise)
            return self._results[exercise.id].points

        try:
            with (
                grading_with(grader),
                redirect_stdout(said),
                redirect_stderr(aside),
                _quiet_numbers(),
            ):
                exec(compile(source, f"<{id}>", "exec"), {"__name__": "__main__"})
        except Exception as trouble:
            self._grader_failed(exercise, trouble)
        if exercise.id not in self._results:
            self._problems.append(f"{id} does not grade through grade(); it scores nothing")
            self._results[exercise.id] = _nothing(exercise, "This cell was not graded.")
        result = self._results[exercise.id]
        # What `grade` prints is the text; anything else that the cell prints comes before it.
        outputs: list[dict[str, Any]] = [
            {"output_type": "stream", "name": "stdout", "text": said.getvalue() + result.text()}
        ]
        outputs[0]["text"] += "\n"
        outputs.append(
            {
                "output_type": "execute_result",
                "data": {"text/plain": repr(float(result.points))},
                "metadata": {},
                "execution_count": self._count,
            }
        )
        self._show(cell, outputs, self._count)

    def _score(self, exercise: Exercise) -> None:
        """Score through the door; a fault of ours costs nobody anything silently."""
        lost = [
            earlier
            for earlier in self._automatic()
            if earlier.id in self._results
            and not self._results[earlier.id].full
            and self._builds_on(earlier)
        ]
        watched = bool(exercise.by_hand or exercise.forbids)
        door = WireDoor(self.session.student, self._limits, deep=watched)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                ready = self._ready(exercise)
                result = score_with_follow_through(ready, door, lost)
        except Exception as trouble:
            self._grader_failed(exercise, trouble)
            return
        if watched and result.points > 0:
            evidence.apply(result, exercise, self._sources, door.blinded)
        self._results[exercise.id] = result

    def _builds_on(self, earlier: Exercise) -> bool:
        """Whether a cell other than its own names what an earlier exercise provides."""
        own = (earlier.id, "header_setup")
        text = "\n".join(source for id, source in self._sources if id not in own)
        return any(re.search(rf"\b{re.escape(name)}\b", text) for name in earlier.provides)

    def _ready(self, exercise: Exercise) -> Prepared:
        if self._lesson.id in LESSONS:
            return prepared(self._lesson.id, exercise.id)
        return prepare(exercise)  # a lesson that is not the course's: in tests

    def _grader_failed(self, exercise: Exercise, trouble: Exception) -> None:
        lines = traceback.format_exception_only(trouble)
        where = traceback.extract_tb(trouble.__traceback__)[-1]
        self._problems.append(
            f"the grader failed on {exercise.id}: {lines[-1].strip()} "
            f"({Path(where.filename).name}, line {where.lineno}); grade it by hand"
        )
        words = "The grader failed here; your instructor has been told."
        self._results[exercise.id] = _nothing(exercise, words)

    def _show(self, cell: Any, outputs: list[dict[str, Any]], count: int | None) -> None:
        cell["outputs"] = _as_nodes(outputs, self._notebook)
        cell["execution_count"] = count


def _is_left_out(about: Mapping[str, Any]) -> bool:
    """Visible checks and other locked cells: they show, and change nothing. Not the set-up cell."""
    id = str(about.get("grade_id", ""))
    locked = bool(about.get("locked")) and not about.get("solution")
    return id.startswith("check_") or (locked and not id.endswith("setup"))


def _nothing(exercise: Exercise, words: str) -> Result:
    parts = [PartResult(part.name, 0.0, part.points, 0) for part in exercise.parts]
    return Result(exercise.id, 0.0, exercise.points, parts, ["not_graded"], [words])


def _as_nodes(outputs: list[dict[str, Any]], notebook: Any) -> list[Any]:
    """Outputs as the notebook's own kind of mapping (nbformat's allows `output.name`)."""
    if type(notebook) is dict:
        return outputs
    from nbformat import from_dict

    return [from_dict(output) for output in outputs]


@contextlib.contextmanager
def _quiet_numbers() -> Iterator[None]:
    """No warning of NumPy's reaches an output: nbgrader takes any stderr for a failed cell."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
