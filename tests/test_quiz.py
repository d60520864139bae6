"""Questions: a click shows what every option means; plain text where there are no widgets."""

from __future__ import annotations

import ipywidgets as widgets
import pytest

from mjcourse.quiz import ask, plain_text, question_box

QUESTION = "Why *seven* numbers for `qpos` and six for `qvel`?"
OPTIONS = {
    "A quaternion has four numbers": "Yes: $w, x, y, z$, and only three ways to turn.",
    "MuJoCo pads the array": "No: every number of `qpos` means something, and 1 < 2.",
    "Time is stored too": "No: time is `data.time`.",
}
RIGHT = "A quaternion has four numbers"


def buttons_of(box) -> list[widgets.Button]:
    return [row.children[0] for row in box.children if isinstance(row, widgets.HBox)]


def markup_of(box) -> str:
    texts = [w for row in box.children for w in getattr(row, "children", (row,))]
    return "\n".join(w.value for w in texts if hasattr(w, "value"))


def test_nothing_is_explained_before_the_click():
    markup = markup_of(question_box(QUESTION, OPTIONS, RIGHT))
    assert "Why <em>seven</em> numbers for <code>qpos</code>" in markup
    for option, why in OPTIONS.items():
        assert option in markup
        assert why[:6] not in markup.replace(option, "")


@pytest.mark.parametrize("pressed", [0, 1, 2])
def test_a_click_explains_every_option(pressed):
    box = question_box(QUESTION, OPTIONS, RIGHT)
    buttons_of(box)[pressed].click()
    markup = markup_of(box)
    assert "only three ways to turn" in markup
    assert "every number of <code>qpos</code> means something, and 1 &lt; 2" in markup
    assert "time is <code>data.time</code>" in markup
    letter = "ABC"[pressed]
    told = f"{letter}, and that is right" if pressed == 0 else f"{letter}; A is right"
    assert f"You answered {told}" in markup


def test_the_first_answer_stands():
    box = question_box(QUESTION, OPTIONS, RIGHT)
    buttons_of(box)[1].click()
    assert all(button.disabled for button in buttons_of(box))
    assert [button.button_style for button in buttons_of(box)] == ["success", "warning", ""]


def test_options_are_buttons_that_say_what_they_answer():
    buttons = buttons_of(question_box(QUESTION, OPTIONS, RIGHT))
    assert [button.description for button in buttons] == ["A", "B", "C"]
    assert all(o in b.tooltip for o, b in zip(OPTIONS, buttons, strict=True))


def test_the_verdict_is_spoken_by_a_screen_reader():
    box = question_box(QUESTION, OPTIONS, RIGHT)
    assert "aria-live='polite'" in box.children[-1].value


def test_only_widgets_that_every_version_has_are_used():
    box = question_box(QUESTION, OPTIONS, RIGHT)
    kinds = {type(w).__name__ for row in box.children for w in (row, *getattr(row, "children", ()))}
    assert kinds <= {"HTML", "HTMLMath", "HBox", "Button"}


def test_formulas_are_typeset():
    box = question_box("Is $x > 0$?", {"$x$": "because $y$", "no": "plain"}, "no")
    rows = [row for row in box.children if isinstance(row, widgets.HBox)]
    assert isinstance(rows[0].children[1], widgets.HTMLMath)
    assert not isinstance(rows[1].children[1], widgets.HTMLMath)


def test_html_in_a_text_is_shown_and_not_run():
    box = question_box("<script>", {"<b>x</b>": "<i>", "other": "y"}, "other")
    buttons_of(box)[0].click()
    assert "<script>" not in markup_of(box)
    assert "&lt;b&gt;x&lt;/b&gt;" in markup_of(box)


def test_without_a_kernel_it_is_plain_text(capsys):
    ask(QUESTION, OPTIONS, RIGHT)
    text = capsys.readouterr().out
    assert text == plain_text(QUESTION, OPTIONS, RIGHT) + "\n"
    assert text.index("C. Time is stored too") < text.index("A is right")


def test_nothing_is_asked_under_grading(capsys, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    ask(QUESTION, OPTIONS, RIGHT)
    assert capsys.readouterr().out == ""


def test_a_right_option_that_is_none_of_them_is_refused():
    with pytest.raises(ValueError, match="not among"):
        ask(QUESTION, OPTIONS, "Seven")
