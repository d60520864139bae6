"""A feedback page says what was right, names mistakes, shows no hidden test, runs no script."""

import re
from html.parser import HTMLParser

import pytest

from course.classwork import grade_class
from course.feedback import clean_html, student_page, write_feedback
from course.gradebook import ManualScore, Sheet
from course.pages import sentence
from course.paths import CHECKOUT, DataFolders
from course.records import attach
from course.repair import repair_against
from tests import toy_lesson as toy

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><circle></svg>",
    "<a href='javascript:alert(1)'>x</a>",
    "<iframe src='https://evil.example'></iframe>",
    "<object data='x'></object>",
    "<style>body{display:none}</style>",
    "<div style='position:fixed;inset:0'>cover</div>",
    "<form action='https://evil.example'><input name=a></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href='https://evil.example'>",
    "</pre></div><script>alert(1)</script>",
    "<img src='https://evil.example/seen.png'>",
    "<img src='data:image/svg+xml;base64,PHN2Zy8+'>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]


@pytest.fixture
def folders(tmp_path, monkeypatch):
    toy.use(monkeypatch)
    return DataFolders(tmp_path)


def written(folders, notebook, student="ada"):
    toy.hand_in(folders.root, student, notebook)
    grade_class([toy.LESSON], folders)
    (path,) = write_feedback([toy.LESSON], folders, student)
    assert path == folders.feedback / student / toy.LESSON / f"{toy.LESSON}.html"
    return path.read_text(encoding="utf-8")


def made_page(cells, results=(), grades=None, comments=None):
    """A page of a notebook with outputs of our choice, without grading it."""
    shape = toy.toy_template()
    notebook, _ = repair_against(shape, toy.solved())
    for grade_id, outputs in cells.items():
        toy.find(notebook, grade_id)["outputs"] = outputs
    attach(notebook, results)
    scores = {
        cell.grade_id: ManualScore(
            cell.grade_id, 0.0, None, None, cell.metadata["points"], False, cell.cell_type
        )
        for cell in shape.known.values()
        if cell.graded
    }
    scores.update(grades or {})
    sheet = Sheet("ada", toy.LESSON, "", None, 0.0, scores, comments or {})
    return student_page(notebook, sheet, shape, "A toy")


RUNS = re.compile("script|iframe|object|embed|svg|style|form|meta|base|link|math")


class Active(HTMLParser):
    """Collects whatever in the body of a page could run, load or cover something."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [tag] if RUNS.fullmatch(tag) else []
        for name, value in attributes:
            value = (value or "").strip()
            ours = name != "style" or re.fullmatch(r"width:\d+%", value)
            if name == "src":
                ours = value.startswith(("data:image/png;", "data:image/jpeg;"))
            if name == "href":
                ours = value.startswith(("#", "http://", "https://"))
            if not ours or name.startswith("on"):
                self.found.append((tag, name, value))


def active(html):
    parser = Active()
    parser.feed(html.split("</head>", 1)[1])
    return parser.found


def test_a_full_solution_has_all_its_points(folders):
    page = written(folders, toy.solved())
    assert "<b>5</b> <span>of 7 points" in page
    assert page.count("· Right") == 3
    assert "To be read" in page
    assert "still to be read by a person" in page


def test_a_misconception_is_named_at_its_exercise_and_in_the_summary(folders):
    page = written(folders, toy.solved(double="def double(x):\n    return x * x"))
    assert page.count("You squared it; doubling is adding it to itself.") == 2
    assert "0 of 3" in page


def test_points_of_each_part_are_shown_when_some_are_lost(folders):
    page = written(folders, toy.solved(double="def double(x):\n    return 2 * abs(x)"))
    assert "small numbers 2/2" in page
    assert "negative numbers 0/1" in page


def test_the_students_code_is_shown_and_the_lessons_text_is_not(folders):
    page = written(folders, toy.solved(double="def double(x):\n    return x + x  # mine"))
    assert "# mine" in page
    assert "Exercise double" in page
    assert "Write it." not in page


def test_text_of_another_version_of_the_lesson_is_not_taken_for_the_students(folders):
    notebook = toy.solved()
    prose = [c for c in notebook["cells"] if c["cell_type"] == "markdown" and not c["metadata"]]
    prose[0]["source"] = "## Exercise double\n\nAn older wording."
    prose[1]["source"], prose[1]["id"] = "Gone from the lesson.", "0123456789ab"
    mine = {"cell_type": "markdown", "id": "5f0c3a1b", "metadata": {}, "source": "My own notes."}
    notebook["cells"].append(mine)
    page = written(folders, notebook)
    assert "older wording" not in page
    assert "Gone from" not in page
    assert "My own notes." in page


def test_a_sentence_shows_code_and_stress_and_leaves_products_alone():
    shown = sentence("`qpos` *and* `a * b` change: 2*x*3 < y * z.")
    assert shown == ("<code>qpos</code> <em>and</em> <code>a * b</code> change: 2*x*3 &lt; y * z.")


def test_hidden_tests_are_not_shown(folders):
    for student, notebook in (("ada", toy.solved()), ("bob", toy.release())):
        page = written(folders, notebook, student)
        assert "grade(" not in page
        assert "HIDDEN" not in page
        assert "course.grading" not in page
        assert "checking double" not in page


def test_a_traceback_through_the_grader_is_not_shown():
    trace = ["Traceback", "  File 'course/exercises/toy/double.py', line 3", "secret_case = 17"]
    error = {"output_type": "error", "ename": "E", "evalue": "boom", "traceback": trace}
    page = made_page({"double": [error], "test_double": [error], "check_double": [error]})
    assert "E: boom" in page
    assert "secret_case" not in page
    assert "course/exercises" not in page


def test_an_answer_whose_cell_failed_says_why(folders):
    page = written(folders, toy.solved(double="def double(x:\n    return 2 * x"))
    assert "stopped with an error" in page
    assert "SyntaxError" in page
    assert "not written yet" not in page


@pytest.mark.parametrize("html", HOSTILE)
def test_nothing_that_a_cell_displays_runs_or_loads(html):
    rich = {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}
    assert active(made_page({"double": [rich]})) == []


@pytest.mark.parametrize("html", HOSTILE)
@pytest.mark.parametrize("place", ["double", "six_nines", "triple_explain"])
def test_nothing_that_a_student_writes_runs_or_loads(folders, html, place):
    text = f"# {html}\nproduct = 54" if place != "triple_explain" else f"Why? {html}\n\n{html}"
    page = written(folders, toy.solved(**{place: text}))
    assert active(page) == []


@pytest.mark.parametrize("html", HOSTILE)
def test_printed_text_and_errors_are_text(html):
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": html},
        {"output_type": "error", "ename": html, "evalue": html, "traceback": [html]},
        {"output_type": "execute_result", "data": {"text/plain": html}, "metadata": {}},
    ]
    assert active(made_page({"double": outputs})) == []


@pytest.mark.parametrize("html", HOSTILE)
def test_a_students_name_and_a_comment_are_text(html):
    page = made_page({}, comments={"double": html, "triple_explain": html})
    assert active(page) == []


def test_tables_and_pictures_survive():
    dot = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Er"
        "kJggg=="
    )
    table = "<table><tr><td colspan='2'>a</td></tr></table>"
    page = made_page(
        {
            "double": [
                {"output_type": "display_data", "data": {"image/png": dot}, "metadata": {}},
                {"output_type": "display_data", "data": {"text/html": table}, "metadata": {}},
            ]
        }
    )
    assert f"data:image/png;base64,{dot}" in page
    assert '<td colspan="2">a</td>' in page
    assert active(page) == []


def test_a_picture_that_is_none_is_left_out():
    broken = {"output_type": "display_data", "data": {"image/png": 'x" onerror=alert(1)'}}
    assert active(made_page({"double": [broken]})) == []


def test_a_flood_of_output_is_cut():
    flood = {"output_type": "stream", "name": "stdout", "text": "x" * 5_000_000}
    page = made_page({"double": [flood]})
    assert len(page) < 100_000
    assert "characters left out" in page


def test_a_persons_score_and_comment_are_shown():
    read = ManualScore("triple_explain", None, 1.5, None, 2.0, False, "markdown")
    page = made_page({}, grades={"triple_explain": read}, comments={"triple_explain": "Well said"})
    assert "1.5 of 2" in page
    assert "Well said" in page
    assert "still to be read" not in page


def test_a_page_stands_alone(folders):
    page = written(folders, toy.solved())
    assert "Content-Security-Policy" in page
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|link)\b|url\(|@import|src=.http", page)


def test_pages_are_the_same_every_time(folders):
    assert written(folders, toy.solved()) == written(folders, toy.solved())


def test_only_the_asked_student_gets_a_page(folders):
    toy.hand_in(folders.root, "bob", toy.solved())
    written(folders, toy.solved(), "ada")
    assert not (folders.feedback / "bob").exists()


def test_without_a_gradebook_there_are_no_pages(folders):
    assert write_feedback([toy.LESSON], folders) == []
    assert not folders.gradebook.exists()


def test_links_to_the_web_keep_their_address():
    cleaned = clean_html('<a href="https://mujoco.org">x</a>')
    assert 'href="https://mujoco.org"' in cleaned
    assert "noopener" in cleaned


@pytest.mark.browser
def test_chromium_finds_nothing_to_run_in_a_hostile_page(folders, tmp_path):
    """The last word is the browser's: no dialog, no request, no error of the page."""
    from playwright.sync_api import sync_playwright

    cell = "from IPython.display import HTML, display\n"
    cell += "\n".join(f"display(HTML({html!r}))" for html in HOSTILE)
    path = tmp_path / "page.html"
    path.write_text(written(folders, toy.solved(six_nines=f"{cell}\nproduct = 54")))
    seen = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        try:
            tab = browser.new_page()
            tab.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
            tab.on("request", lambda request: seen.append(request.url))
            tab.goto(path.as_uri())
            tab.wait_for_timeout(300)
            assert tab.title() == "A toy: feedback for ada"
        finally:
            browser.close()
    assert [url for url in seen if not url.startswith(("file:", "data:"))] == []


def test_the_template_for_nbgrader_is_there():
    assert (CHECKOUT / "course/templates/mjcourse/index.html.j2").is_file()
