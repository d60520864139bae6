"""`submit()`: look the notebook over and put the file to hand in beside it, with a receipt.

The student's own file is only read. What is handed in is a copy, byte for byte, under a name that
sorts by time (`rotations--2026-12-01T12-30-00Z.ipynb`); an earlier copy is never written over.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import textwrap
from datetime import UTC, datetime
from pathlib import Path

from mjcourse import lesson, overview
from mjcourse.grading_mode import under_grading
from mjcourse.lookover import Lookover, history_of, look_over, stale
from mjcourse.notebook_file import (
    NotebookFile,
    NotFound,
    exercises_of,
    in_colab,
    open_notebook,
)


def submit(path: str | Path | None = None, *, as_saved: bool = False) -> None:
    """Look the notebook over and write the file to hand in, with a receipt beside it.

    Unanswered exercises, failing checks, missing and copied cells are told with the heading where
    to look; none of them prevents handing in. A notebook without any answer, or the same file a
    second time, is not written. In Colab the file is also downloaded.

    Args:
      path: of the notebook, where it cannot be found by itself.
      as_saved: hand in the file on disk although cells that you ran are not saved in it.
    """
    if under_grading():
        return
    names = sys._getframe(1).f_globals
    try:
        notebook = open_notebook(names, path)
    except NotFound as reason:
        print(f"Nothing was handed in: {reason}.")
        return
    opened = lesson.current()
    if opened.id and notebook.lesson != opened.id:
        other = f"the lesson {notebook.lesson}" if notebook.lesson else "no lesson of the course"
        print(f"Nothing was handed in: {notebook.name} is {other}, and {opened.id} runs here.")
        return
    exercises, texts = opened.exercises, opened.texts
    if not exercises:
        exercises, texts = exercises_of(notebook)
    if not exercises:
        print("Nothing was handed in: run the set-up cell at the top of the notebook first.")
        return
    unsaved = stale(notebook.cells, history_of(_shell()), sum(exercises.values(), ()))
    if unsaved and not as_saved:
        _tell_unsaved(unsaved)
        return
    statuses = overview.statuses(names) if opened.exercises else []
    seen = look_over(notebook, exercises, texts, statuses)
    if not seen.answered:
        print("Nothing was handed in: no exercise is answered yet.")
        return
    print(findings_text(seen))
    before = earlier_copy(notebook)
    if before is not None:
        print(f"\nThis file is handed in already, nothing has changed since: {before}")
        return
    try:
        copy, receipt = hand_in(notebook, seen, datetime.now(UTC))
    except OSError as error:
        where = error.filename or notebook.folder
        print(f"\nNothing was handed in: {where} cannot be written ({error.strerror or error}).")
        return
    print("\n" + receipt)
    if in_colab():
        _download(copy)
    else:
        print(f"Hand in this file: {copy}")


def findings_text(seen: Lookover) -> str:
    """What was found, in words: one line for each finding, and how much is answered."""
    total = len(seen.answered) + len(seen.unanswered)
    head = f"{len(seen.answered)} of {total} exercises are answered"
    if not seen.findings:
        return head + ", and nothing is amiss."
    lines = [head + ". Before you hand in, look at this:"]
    lines += [
        textwrap.fill(f"- {finding}", 100, initial_indent="  ", subsequent_indent="    ")
        for finding in seen.findings
    ]
    return "\n".join(lines)


def earlier_copy(notebook: NotebookFile) -> Path | None:
    """A copy beside the notebook that holds the same bytes, if there is one."""
    if in_colab():
        return None  # what was downloaded may be lost: give it again
    for copy in sorted(notebook.folder.glob(f"{notebook.lesson}--*.ipynb")):
        size = copy.stat().st_size
        if size == len(notebook.data) and copy.read_bytes() == notebook.data:
            return copy
    return None


def hand_in(notebook: NotebookFile, seen: Lookover, now: datetime) -> tuple[Path, str]:
    """Write the copy and its receipt beside the notebook.

    Returns:
      The copy's path and the receipt's text.

    Raises:
      OSError: the folder cannot be written; nothing half-written stays behind.
    """
    stamp = now.strftime("%Y-%m-%dT%H-%M-%SZ")
    copy = notebook.folder / f"{notebook.lesson}--{stamp}.ipynb"
    count = 1
    while copy.exists():
        count += 1
        copy = notebook.folder / f"{notebook.lesson}--{stamp}-{count}.ipynb"
    _write_whole(copy, notebook.data)
    receipt = receipt_text(notebook, seen, now, copy.name)
    _write_whole(copy.with_suffix(".txt"), receipt.encode())
    return copy, receipt


def receipt_text(notebook: NotebookFile, seen: Lookover, now: datetime, name: str) -> str:
    """What was written when, the digest by which it is known, and the answers it holds."""
    rows = [
        ("Lesson", notebook.lesson),
        ("File", f"{name} ({len(notebook.data):,} bytes)"),
        ("SHA-256", hashlib.sha256(notebook.data).hexdigest()),
        ("Time", now.strftime("%Y-%m-%d %H:%M:%S UTC")),
    ]
    if notebook.saved is not None:
        rows.append(("Saved", notebook.saved.strftime("%Y-%m-%d %H:%M:%S UTC")))
    rows.append(("Answers", ", ".join(seen.answered) or "none"))
    rows.append(("Missing", ", ".join(seen.unanswered) or "none"))
    lines = [
        textwrap.fill(f"{key:<8} {value}", 100, subsequent_indent=" " * 9) for key, value in rows
    ]
    return "\n".join(["Receipt", *lines]) + "\n"


def _download(copy: Path) -> None:
    from google.colab import files

    try:
        files.download(str(copy))
    except Exception as error:  # a browser may refuse; the copy is there all the same
        print(f"The download did not start ({error}).")
    else:
        print("Your browser is downloading it: hand in that file.")
    print(f"It also lies in the Files panel on the left, as {copy.name}, until the runtime ends.")


def _tell_unsaved(names: list[str]) -> None:
    listed = ", ".join(names)
    print(
        f"Nothing was handed in yet: the file on disk does not hold what you ran ({listed}).\n"
        "Save the notebook (Ctrl+S, on a Mac Cmd+S) and run submit() again; to hand in the saved\n"
        "file as it is: submit(as_saved=True)."
    )


def _write_whole(path: Path, data: bytes) -> None:
    """Write through a temporary file, so that no half-written file is ever seen."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _shell() -> object:
    from IPython.core.getipython import get_ipython

    return get_ipython()
