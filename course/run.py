"""Run a lesson's instructor version headless, from top to bottom, in this process."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

from course.release.build import source_notebook


class LessonFailed(RuntimeError):
    """A cell of a lesson raised; the message names the cell and the error."""


@dataclass
class Run:
    """What a run left: every name of the notebook, what it printed, and how long it took."""

    names: dict[str, Any]
    printed: str
    seconds: float
    tests: dict[str, str] = field(default_factory=dict)


def run_lesson(lesson_id: str) -> Run:
    """Run every code cell of the instructor's notebook, hidden tests included.

    Raises:
      LessonFailed: a cell raised.
    """
    os.environ.setdefault("MPLBACKEND", "agg")
    # A visible check that fails or an experiment that stops is told to a student in one line;
    # in the instructor's version it is a fault of the lesson.
    os.environ["MJCOURSE_STRICT"] = "1"
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    notebook = source_notebook(lesson_id)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(displayhook_class=_silent_hook())
    shell.history_manager.enabled = False  # type: ignore[union-attr]
    printed: list[str] = []
    tests: dict[str, str] = {}
    start = time.perf_counter()
    try:
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            with capture_output() as captured:
                result = shell.run_cell(cell.source)
            printed.append(captured.stdout)
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if grade_id.startswith("test_"):
                tests[grade_id.removeprefix("test_")] = captured.stdout
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                first = grade_id or cell.source.strip().splitlines()[0]
                raise LessonFailed(
                    f"{lesson_id}, cell {first!r}: {type(error).__name__}: {error}"
                ) from error
        return Run(dict(shell.user_ns), "".join(printed), time.perf_counter() - start, tests)
    finally:
        os.environ.pop("MJCOURSE_STRICT", None)
        InteractiveShell.clear_instance()


def _silent_hook() -> type:
    """IPython's hook for the value of a last expression, which shows a lab and prints nothing."""
    from IPython.core.displayhook import DisplayHook

    class SilentHook(DisplayHook):
        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
            pass

    return SilentHook


def run_and_print(lesson_id: str) -> None:
    """Run a lesson and print what its cells print: the figures of its experiments."""
    run = run_lesson(lesson_id)
    print(run.printed)
    print(f"{lesson_id}: ran from top to bottom in {run.seconds:.1f} s")
