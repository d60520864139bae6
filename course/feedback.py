"""A page for each student: their notebook with points, named mistakes and words, summary first.

Shown are the answers and what the student added; of the lesson's own text the headings, as the
student has the rest. Hidden tests are never shown: a graded cell appears as its result.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course.classwork import read_graded, records_of
from course.exercises import lesson as find_lesson
from course.files import write_whole
from course.gradebook import Gradebook, Sheet
from course.pages import bar, figure, grade_class, page, plain, sentence, text
from course.paths import DataFolders
from course.records import Record, attached
from course.template import Template, TemplateCell, template

MAX_OUTPUT = 12_000
MAX_IMAGE = 3_000_000


def write_feedback(
    lessons: Sequence[str], folders: DataFolders, student: str | None = None
) -> list[Path]:
    """Write `feedback/<student>/<lesson>/<lesson>.html` for every graded submission."""
    from tqdm import tqdm

    if not folders.gradebook.is_file():
        return []
    with Gradebook(folders.gradebook) as gradebook:
        sheets = [s for lesson in lessons for s in gradebook.sheets(lesson)]
    if student is not None:
        sheets = [s for s in sheets if s.student == student]
    written = []
    for sheet in tqdm(sheets, desc="feedback", unit="page", file=sys.stderr, leave=False):
        notebook = read_graded(folders, sheet.student, sheet.lesson)
        if notebook is None:
            continue
        title = find_lesson(sheet.lesson).title
        made = student_page(notebook, sheet, template(sheet.lesson), title)
        path = folders.feedback / sheet.student / sheet.lesson / f"{sheet.lesson}.html"
        write_whole(path, made)
        written.append(path)
    return written


def student_page(notebook: Mapping[str, Any], sheet: Sheet, lesson: Template, title: str) -> str:
    """The feedback page of one graded notebook.

    Args:
      notebook: as `python -m course grade` or `nbgrader autograde` left it.
      sheet: what the gradebook holds of it; a person's scores and comments count.
    """
    records = records_of(dict(notebook), sheet.student, lesson, sheet.grades)
    results = {r["exercise"]: r for r in attached(notebook)["results"]}
    body = [
        _head(sheet, title),
        _notes(sheet, notebook),
        _summary(records),
        *_notebook(notebook, lesson, {r.exercise: r for r in records}, results, sheet),
        "<footer>Graded by running your functions on cases that the notebook does not show. "
        "If a result looks wrong to you, ask: graders can be mistaken too.</footer>",
    ]
    return page(f"{plain(title)}: feedback for {sheet.student}", "\n".join(filter(None, body)))


def _head(sheet: Sheet, title: str) -> str:
    name = f"{text(sheet.name)} ({text(sheet.student)})" if sheet.name else text(sheet.student)
    return (
        '<header class="card"><div>'
        f'<p class="eyebrow">Feedback</p><h1>{sentence(title)}</h1>'
        f'<p class="soft">{name}</p></div>'
        f'<div class="total"><b>{figure(sheet.score)}</b> <span>of {figure(sheet.max_score)} '
        f"points</span>{bar(sheet.score, sheet.max_score)}</div></header>"
    )


def _notes(sheet: Sheet, notebook: Mapping[str, Any]) -> str:
    notes = []
    if sheet.needs_manual_grade:
        notes.append("Some answers are still to be read by a person; the total can grow.")
    if sheet.late_penalty:
        notes.append(f"{figure(sheet.late_penalty)} points are taken off for handing in late.")
    notes += [
        STUDENT_NOTES[p["kind"]]
        for p in attached(notebook)["problems"]
        if p["kind"] in STUDENT_NOTES
    ]
    said = "".join(f"<p>{sentence(note)}</p>" for note in dict.fromkeys(notes))
    return f'<div class="note">{said}</div>' if said else ""


# What a student can do better the next time; the instructor reads the rest in the report.
STUDENT_NOTES = {
    "duplicate_cell": "An exercise was there more than once. Of the copies, the last one that you "
    "worked on counts; delete the others before you hand in.",
    "cell_restored": "A cell of the lesson had been deleted; it was put back before grading.",
    "locked_cell_edited": "A locked cell had been edited; it was graded with its own text.",
    "several_notebooks": "You handed in several notebooks; only one of them was graded.",
    "points_changed": "The points written in the notebook had been changed; that has no effect.",
}


def _summary(records: Sequence[Record]) -> str:
    rows = []
    for record in records:
        kind = grade_class(record.points, record.max_points)
        rows.append(
            f'<tr class="{kind}"><td><a href="#{text(record.exercise)}">'
            f"<code>{text(record.exercise)}</code></a></td>"
            f'<td class="number">{figure(record.points)} / {figure(record.max_points)}</td>'
            f'<td class="meter">{bar(record.points, record.max_points)}</td>'
            f"<td>{_headline(record)}</td></tr>"
        )
    return (
        '<div class="framed"><table><thead><tr><th>Exercise</th><th class="number">Points</th>'
        f'<th class="meter"></th><th></th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _headline(record: Record) -> str:
    """One line: right, still to be read, or the likeliest reason."""
    if record.points is None:
        said = record.messages[0] if record.messages else "to be read by a person"
        return f'<span class="soft">{sentence(said)}</span>'
    if record.points >= record.max_points - 1e-9:
        return "right"
    return sentence(record.messages[0]) if record.messages else ""


def _notebook(
    notebook: Mapping[str, Any],
    lesson: Template,
    records: Mapping[str, Record],
    results: Mapping[str, Mapping[str, Any]],
    sheet: Sheet,
) -> list[str]:
    """The cells worth showing, in order; a heading of the lesson only where something follows."""
    shown: list[str] = []
    heading = ""
    own_text = {_squeezed(c.shown) for c in lesson.cells if not c.solution}
    own_ids = {c.id for c in lesson.cells}
    for cell in notebook.get("cells", []):
        source = _source(cell)
        wanted = lesson.known.get(_grade_id(cell))
        part = ""
        if wanted is not None:
            part = _known_cell(cell, source, wanted, records, results, sheet)
        elif _squeezed(source) in own_text or _lessons_prose(cell, own_ids):
            heading = _last_heading(source) or heading
        elif source.strip():
            part = _own_cell(cell, source)
        if part:
            if heading:
                shown.append(f"<h2>{_inline(heading)}</h2>")
                heading = ""
            shown.append(part)
    return shown


def _known_cell(
    cell: Mapping[str, Any],
    source: str,
    wanted: TemplateCell,
    records: Mapping[str, Record],
    results: Mapping[str, Mapping[str, Any]],
    sheet: Sheet,
) -> str:
    """An answer with its comment, or a result; nothing for what the lesson itself shows."""
    comment = sheet.comments.get(wanted.grade_id, "")
    said = f'<div class="comment"><p>{sentence(comment)}</p></div>' if comment else ""
    if wanted.solution and wanted.graded:
        record = records[wanted.grade_id]
        return (
            f'<div class="cell" id="{text(wanted.grade_id)}">{_prose(source)}</div>'
            f"{_verdict(record, {})}{said}"
        )
    if wanted.solution:
        return f'<div class="cell">{_code(source)}{_outputs(cell)}</div>{said}'
    if wanted.graded:
        exercise = wanted.grade_id.removeprefix("test_")
        return (
            f'<div id="{text(exercise)}">'
            f"{_verdict(records[exercise], results.get(exercise, {}))}</div>"
        )
    return ""


def _lessons_prose(cell: Mapping[str, Any], own_ids: set[str]) -> bool:
    """Whether a text cell is the lesson's though its words differ: ticked, or of another version.

    Ids of released cells are twelve digits of a hash; JupyterLab and nbformat give others.
    """
    id = str(cell.get("id", ""))
    ours = id in own_ids or re.fullmatch(r"[0-9a-f]{12}", id) is not None
    return cell.get("cell_type") == "markdown" and ours


def _own_cell(cell: Mapping[str, Any], source: str) -> str:
    if cell.get("cell_type") == "code":
        return f'<div class="cell">{_code(source)}{_outputs(cell)}</div>'
    return f'<div class="cell">{_prose(source)}</div>'


def _verdict(record: Record, result: Mapping[str, Any]) -> str:
    kind = grade_class(record.points, record.max_points)
    words = {"right": "Right", "part": "Partly right", "wrong": "Not yet", "open": "To be read"}
    if record.points is None and record.messages:
        words["open"] = "Nothing written"
    lines = [
        f'<div class="verdict {kind}"><div class="head"><h3><code>{text(record.exercise)}</code> '
        f'· {words[kind]}</h3><span class="points">{figure(record.points)} of '
        f"{figure(record.max_points)}</span></div>"
    ]
    parts = result.get("parts", [])
    if len(parts) > 1 and kind != "right":
        chips = "".join(
            f"<li>{text(p['name'])} {figure(p['points'])}/{figure(p['max_points'])}</li>"
            for p in parts
        )
        lines.append(f'<ul class="parts">{chips}</ul>')
    left = len(record.misconceptions)
    for message in record.messages:
        aside = message.startswith("Follow-through")
        css = ' class="named"' if left > 0 and not aside else ' class="small"'
        left -= not aside
        lines.append(f"<p{css}>{sentence(message)}</p>")
    return "".join(lines) + "</div>"


def _grade_id(cell: Mapping[str, Any]) -> str:
    data = cell.get("metadata", {}).get("nbgrader", {})
    return str(data.get("grade_id", "")) if isinstance(data, Mapping) else ""


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


def _squeezed(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _last_heading(source: str) -> str:
    found = re.findall(r"^#{1,4} +(.+)$", source, re.MULTILINE)
    return str(found[-1]) if found else ""


def _inline(heading: str) -> str:
    return sentence(re.sub(r"\*\*?|__?(?=\W|$)", "", heading))


def _code(source: str) -> str:
    """Highlighted Python."""
    from pygments import highlight

    lexer, formatter = _pygments()
    cut = source if len(source) <= MAX_OUTPUT * 2 else source[: MAX_OUTPUT * 2] + "\n# ... cut"
    safe = "".join(c for c in cut if c in "\n\t" or ord(c) >= 32)
    return f'<pre class="code">{highlight(safe, lexer, formatter).rstrip()}</pre>'


@functools.cache
def _pygments() -> tuple[Any, Any]:
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=True), HtmlFormatter(nowrap=True)


def _prose(source: str) -> str:
    """A student's Markdown, sanitised."""
    if not source.strip():
        return '<p class="soft">(nothing written)</p>'
    import mistune

    made = mistune.create_markdown(escape=True, plugins=["table"])(source[: MAX_OUTPUT * 2])
    return f'<div class="text">{clean_html(str(made))}</div>'


def _outputs(cell: Mapping[str, Any]) -> str:
    shown = []
    for output in cell.get("outputs", [])[:40]:
        kind = output.get("output_type")
        if kind == "stream":
            shown.append(f'<pre class="out">{_plain(output.get("text", ""))}</pre>')
        elif kind == "error":
            # The last line only: the rest would show whose files the cell ran through.
            said = f"{output.get('ename', '')}: {output.get('evalue', '')}"
            shown.append(f'<pre class="error">{_plain(said)}</pre>')
        elif kind in ("display_data", "execute_result"):
            shown.append(_display(output.get("data", {})))
    return "".join(shown)


def _display(data: Mapping[str, Any]) -> str:
    for mime in ("image/png", "image/jpeg"):
        picture = _picture(mime, data.get(mime))
        if picture:
            return f'<div class="shown">{picture}</div>'
    if data.get("text/html"):
        return f'<div class="shown">{clean_html(_joined(data["text/html"])[:100_000])}</div>'
    if data.get("text/plain"):
        return f'<pre class="out">{_plain(data["text/plain"])}</pre>'
    return ""


def _picture(mime: str, content: Any) -> str:
    encoded = re.sub(r"\s", "", _joined(content or ""))
    if not encoded or len(encoded) > MAX_IMAGE:
        return ""
    try:
        base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return ""
    return f'<img alt="output of the cell" src="data:{mime};base64,{encoded}">'


def _joined(words: Any) -> str:
    return "".join(map(str, words)) if isinstance(words, list) else str(words)


def _plain(words: Any) -> str:
    """Terminal text as HTML: colours left out, long texts cut in the middle."""
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", _joined(words)).rstrip()
    if len(said) > MAX_OUTPUT:
        half = MAX_OUTPUT // 2
        said = f"{said[:half]}\n... {len(said) - 2 * half} characters left out ...\n{said[-half:]}"
    return text(said)


def clean_html(given: str) -> str:
    """HTML from a student without anything that runs, loads, or covers the page."""
    import nh3

    allowed = {
        "a", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "del", "div",
        "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "ol",
        "p", "pre", "s", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot",
        "th", "thead", "tr", "tt", "u", "ul",
    }  # fmt: skip
    cells = {"align", "colspan", "rowspan"}
    return nh3.clean(
        given,
        tags=allowed,
        attributes={"td": cells, "th": cells, "a": {"href", "title"}, "img": {"alt", "src"}},
        url_schemes={"http", "https", "data"},
        attribute_filter=_only_pictures,
        link_rel="noopener noreferrer nofollow",
    )


def _only_pictures(tag: str, name: str, value: str) -> str | None:
    """Links lead to the web; pictures are in the page (the page may load nothing)."""
    if name == "src":
        ours = re.match(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*$", value)
        return value if ours else None
    if name == "href":
        return value if value.lower().startswith(("http://", "https://")) else None
    return value
