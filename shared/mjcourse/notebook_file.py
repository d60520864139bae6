"""Find and read the file of the running notebook: JupyterLab, VS Code, Colab, or by its path."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class NotFound(Exception):
    """The notebook's file cannot be found or read; the message says what to do."""


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook's file.

    Attributes:
      kind: `"code"`, `"markdown"` or `"raw"`.
      grade_id: nbgrader's name of the cell; empty when it has none.
      heading: the nearest heading at or above the cell, without its `#` marks.
      printed: the text that the saved outputs hold.
    """

    kind: str
    source: str
    grade_id: str
    heading: str
    printed: str = ""


@dataclass(frozen=True)
class NotebookFile:
    """The bytes of a notebook and what they say.

    Attributes:
      folder: where the file to hand in goes.
      saved: when the file was last written (UTC); None in Colab, whose state is always current.
    """

    data: bytes = field(repr=False)
    folder: Path
    cells: tuple[Cell, ...]
    lesson: str
    saved: datetime | None = None
    name: str = ""


def open_notebook(names: Mapping[str, Any], path: str | Path | None = None) -> NotebookFile:
    """The file of the notebook whose global names are `names`.

    Args:
      path: of the file, when it is known; otherwise it is looked for.

    Raises:
      NotFound: it is not there, cannot be told, or is no notebook.
    """
    if path is None and in_colab():
        return parse(_from_colab(), Path.cwd())
    file = find(names, path)
    try:
        data = file.read_bytes()
        saved = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror or error}") from None
    return parse(data, file.parent, saved, file.name)


def find(names: Mapping[str, Any], path: str | Path | None = None) -> Path:
    """Path of the running notebook's file.

    VS Code tells it in a global name, Jupyter Server in an environment variable. Where neither
    does, the only notebook in the working folder that holds this lesson is taken.

    Raises:
      NotFound: there is none, or there are several.
    """
    if path is not None:
        file = Path(path).expanduser()
        if not file.is_file():
            raise NotFound(f"there is no file {file}")
        return file.resolve()
    for told in (names.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")):
        if isinstance(told, str) and told.endswith(".ipynb") and Path(told).is_file():
            return Path(told).resolve()
    from mjcourse import lesson

    wanted = lesson.current().id
    near = [p for p in sorted(Path.cwd().glob("*.ipynb")) if _holds(p, wanted)]
    if len(near) == 1:
        return near[0]
    example = f'`submit(path="{near[0].name if near else (wanted or "lesson") + ".ipynb"}")`'
    if near:
        listed = ", ".join(p.name for p in near)
        raise NotFound(f"several notebooks here hold this lesson ({listed}): say which, {example}")
    raise NotFound(f"the notebook's file was not found: save it, and say where it is, {example}")


def in_colab() -> bool:
    """Whether the kernel runs in Google Colab."""
    return "google.colab" in sys.modules


def parse(data: bytes, folder: Path, saved: datetime | None = None, name: str = "") -> NotebookFile:
    """Read a notebook (nbformat 4) from its bytes.

    Raises:
      NotFound: it is no notebook.
    """
    try:
        notebook = json.loads(data)
        raw = notebook["cells"]
        cells = tuple(_cells(raw))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotFound(f"{name or 'the file'} is not a notebook that can be read") from None
    metadata = notebook.get("metadata") or {}
    lesson = (metadata.get("mjcourse") or {}).get("lesson") or _begun(cells)[0]
    return NotebookFile(data, folder, cells, str(lesson), saved, name)


def exercises_of(notebook: NotebookFile) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The lesson's exercises and answers in words, as the set-up cell of the file names them."""
    _, exercises, texts = _begun(notebook.cells)
    return exercises, texts


def _cells(raw: list[dict[str, Any]]) -> Iterator[Cell]:
    heading = ""
    for cell in raw:
        source = _joined(cell.get("source", ""))
        if cell["cell_type"] == "markdown":
            found = re.findall(r"^#{1,6}\s+(.+?)\s*$", source, re.MULTILINE)
            heading = found[-1] if found else heading
        grade_id = ((cell.get("metadata") or {}).get("nbgrader") or {}).get("grade_id", "")
        printed = "".join(_joined(out.get("text", "")) for out in cell.get("outputs", ()))
        yield Cell(cell["cell_type"], source, str(grade_id), heading, printed)


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text)


def _begun(cells: tuple[Cell, ...]) -> tuple[str, dict[str, tuple[str, ...]], tuple[str, ...]]:
    """What the call of `mjcourse.begin` in the set-up cell says."""
    for cell in cells:
        if cell.kind != "code" or "mjcourse.begin(" not in cell.source:
            continue
        try:
            calls = [n for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Call)]
            begin = next(c for c in calls if ast.unparse(c.func) == "mjcourse.begin")
            said = {k.arg: ast.literal_eval(k.value) for k in begin.keywords}
            exercises = {str(id): tuple(names) for id, names in said["exercises"].items()}
            return ast.literal_eval(begin.args[0]), exercises, tuple(said.get("texts", ()))
        except (SyntaxError, ValueError, StopIteration, KeyError, IndexError):
            continue
    return "", {}, ()


def _holds(path: Path, lesson: str) -> bool:
    """Whether a file is a notebook of the lesson (of any, when empty) and no copy handed in."""
    if "--" in path.stem:
        return False
    try:
        held = parse(path.read_bytes(), path.parent).lesson
    except (NotFound, OSError):
        return False
    return held == lesson if lesson else bool(held)


def _from_colab() -> bytes:
    """The notebook as Colab shows it now, saved or not."""
    from google.colab import _message

    reply = _message.blocking_request("get_ipynb", request="", timeout_sec=60)
    if not reply or "ipynb" not in reply:
        raise NotFound("Colab did not hand over the notebook: run the cell again")
    return (json.dumps(reply["ipynb"], indent=1, ensure_ascii=False) + "\n").encode()
