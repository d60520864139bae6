"""Click-to-answer questions: predict first, then read what each option would mean. Ungraded."""

from __future__ import annotations

import html
import re
import string
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mjcourse.grading_mode import under_grading

if TYPE_CHECKING:
    import ipywidgets

_RIGHT, _WRONG = "#00664b", "#9c3f00"


def ask(question: str, options: Mapping[str, str], right: str) -> None:
    """Show a question with its options; the first click shows the explanation of every option.

    Texts may hold `code`, *stress* and LaTeX between dollar signs. Without widgets the question
    is shown as plain text, with the explanations after it. Under grading nothing is shown.

    Args:
      question: what is asked.
      options: each option and what is to be said of it, in the order of appearance.
      right: the option that is right.

    Raises:
      ValueError: `right` is not one of the options.
    """
    if right not in options:
        raise ValueError(f"the right option {right!r} is not among {list(options)}")
    if under_grading():
        return
    text = plain_text(question, options, right)
    shell = _shell()
    if shell is None:
        print(text)
        return
    from IPython.display import display

    bundle: dict[str, Any] = {"text/plain": text}
    if hasattr(shell, "kernel"):
        box = question_box(question, options, right)
        view = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
        bundle["application/vnd.jupyter.widget-view+json"] = view
    display(bundle, raw=True)


def plain_text(question: str, options: Mapping[str, str], right: str) -> str:
    """The question, its options, and after a gap what each option would mean."""
    letters = dict(zip(options, string.ascii_uppercase, strict=False))
    lines = [f"Predict first: {question}"]
    lines += [f"  {letters[option]}. {option}" for option in options]
    lines += ["", "", f"{letters[right]} is right."]
    lines += [f"  {letters[option]}. {said}" for option, said in options.items()]
    return "\n".join(
        textwrap.fill(line, 96, subsequent_indent="     ", drop_whitespace=True) if line else ""
        for line in lines
    )


def question_box(question: str, options: Mapping[str, str], right: str) -> ipywidgets.VBox:
    """The question as widgets: a button for each option, with its text and explanation beside it.

    Buttons are reached with Tab and pressed with Space or Enter; what a click shows stands in a
    live region, so that a screen reader speaks it.
    """
    import ipywidgets as widgets

    def text(markup: str, **layout: str) -> Any:
        # HTMLMath typesets LaTeX, and costs a typesetting pass: only where there is some.
        kind = widgets.HTMLMath if "$" in markup else widgets.HTML
        return kind(value=markup, layout=widgets.Layout(margin="0", **layout))

    buttons, said = [], []
    rows: list[Any] = [text(_heading(question))]
    for letter, option in zip(string.ascii_uppercase, options, strict=False):
        button = widgets.Button(
            description=letter,
            tooltip=f"Answer {letter}: {option}",
            layout=widgets.Layout(width="44px", flex="0 0 auto", margin="0 10px 0 0"),
        )
        holds_math = "$" in option + options[option]
        beside = text(_row(option) + ("<!-- $ -->" if holds_math else ""), flex="1 1 auto")
        buttons.append(button)
        said.append(beside)
        rows.append(
            widgets.HBox(
                [button, beside], layout=widgets.Layout(align_items="flex-start", margin="3px 0")
            )
        )
    verdict = text("<div role='status' aria-live='polite'></div>")
    rows.append(verdict)

    def answer(pressed: Any) -> None:
        for button, beside, (option, why) in zip(buttons, said, options.items(), strict=True):
            button.disabled = True
            if option == right:
                button.button_style = "success"
            elif button is pressed:
                button.button_style = "warning"
            beside.value = _row(option, why, option == right)
        chosen = buttons.index(pressed)
        wanted = list(options).index(right)
        told = f"You answered {string.ascii_uppercase[chosen]}, and that is right."
        if chosen != wanted:
            told = (
                f"You answered {string.ascii_uppercase[chosen]}; "
                f"{string.ascii_uppercase[wanted]} is right."
            )
        verdict.value = f"<div role='status' aria-live='polite'><i>{told}</i></div>"

    for button in buttons:
        button.on_click(answer)
    frame = widgets.Layout(
        border="1px solid #c8ccd0", padding="10px 14px", max_width="760px", margin="4px 0"
    )
    return widgets.VBox(rows, layout=frame)


def _heading(question: str) -> str:
    label = "<span style='font-size:85%; opacity:0.75'>Predict first</span><br>"
    return f"<div style='line-height:1.45'>{label}<b>{_markup(question)}</b></div>"


def _row(option: str, why: str = "", is_right: bool = False) -> str:
    text = f"<div style='line-height:1.45; padding-top:4px'>{_markup(option)}"
    if why:
        colour, mark = (_RIGHT, "✓") if is_right else (_WRONG, "✗")
        text += f"<div style='color:{colour}; margin-top:2px'>{mark} {_markup(why)}</div>"
    return text + "</div>"


def _markup(text: str) -> str:
    """Escape for HTML; backticks become code, stars stress."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])", r"<em>\1</em>", text)


def _shell() -> Any:
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return None
    return get_ipython()
