"""Visible checks: one line a label, the figure, and words for what went wrong."""

from __future__ import annotations

import numpy as np
import pytest

import mjcourse
from mjcourse import lesson
from mjcourse.checks import CheckFailed, visible_check

WXYZ = np.array([0.8, 0.2, -0.4, 0.4])


@pytest.fixture(autouse=True)
def opened(capsys):
    mjcourse.begin("rotations", version=mjcourse.__version__, exercises={"quat_mul": ("quat_mul",)})
    capsys.readouterr()


def lines_of(capsys) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_a_right_answer_prints_its_largest_error_and_ok(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        for error in (1e-16, 3e-13, 2e-15):
            check.close("quat_mul vs mju_mulQuat", WXYZ + error, WXYZ)

    (line,) = lines_of(capsys)
    assert line.startswith("quat_mul vs mju_mulQuat")
    assert "3.0e-13" in line
    assert line.endswith("ok")
    assert check_quat_mul.passed is True


def test_every_label_has_one_line_and_columns_line_up(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("short", 1.0, 1.0)
        check.true("a label that is longer", True, "not seen")

    lines = lines_of(capsys)
    assert [line.index("ok") for line in lines] == [lines[0].index("ok")] * 2


def test_a_scalar_last_quaternion_is_named(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("product", np.roll(WXYZ, -1), WXYZ)

    assert "not yet: the scalar part is last" in lines_of(capsys)[0]
    assert check_quat_mul.passed is False


def test_a_look_counts_only_when_all_failures_share_it(capsys):
    no_scalar = np.array([0.0, 0.6, 0.0, 0.8])

    @visible_check("quat_mul")
    def check_quat_mul(check):
        # Alone, the first pair also looks like a flipped sign.
        for quat in (no_scalar, WXYZ):
            check.close("product", quat * [1, -1, -1, -1], quat)

    assert "this is the conjugate" in lines_of(capsys)[0]


def test_a_result_of_a_known_mistake_is_named_and_another_is_not(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        right, backwards = np.array([1.0, 2.0, 3.0]), [3.0, 2.0, 1.0]
        for label, got in (("one", backwards), ("other", [5, 0, 5]), ("none", None), ("text", "a")):
            if not check.close(label, got, right):
                check.unlike(label, got, [9.0, 9.0], backwards, otherwise="it runs backwards")

    one, other, none, text = lines_of(capsys)[:4]
    assert "it runs backwards" in one
    assert not any("backwards" in line for line in (other, none, text))


def test_a_check_may_fill_one_array_again_and_again(capsys):
    out = np.zeros(4)

    @visible_check("quat_mul")
    def check_quat_mul(check):
        for quat in (WXYZ, np.array([0.5, -0.5, 0.1, 0.7])):
            out[:] = quat
            check.close("product", quat * [1, -1, -1, -1], out)

    assert "this is the conjugate" in lines_of(capsys)[0]


def test_an_unrecognised_answer_shows_an_example(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("product", [1.0, 2.0, 4.5], [2.0, 7.0, 1.0])

    assert "for example [1. , 2. , 4.5]; [2., 7., 1.] expected" in lines_of(capsys)[0]


def test_of_a_large_answer_the_worst_entry_is_shown(capsys):
    wrong = np.sin(np.arange(25.0)).reshape(5, 5) + 0.01
    wrong[4, 0] = 3.5

    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("matrix", wrong, np.ones((5, 5)))

    assert "it differs most at [4, 0]: 3.5; 1. expected" in lines_of(capsys)[0]


def test_quaternions_may_have_the_other_sign_only_where_that_is_said(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        assert check.close("up to sign", -WXYZ, WXYZ, up_to_sign=True)
        assert not check.close("with its sign", -WXYZ, WXYZ)

    assert "every sign is flipped" in lines_of(capsys)[1]


@pytest.mark.parametrize(
    ("got", "told"),
    [
        (None, "it returns None"),
        ("abc", "it returns a str"),
        ([1.0, [2.0]], "it returns a list"),
        ([1.0, np.nan, 0.0, 0.0], "it holds NaN"),
        ([[1.0, 2.0, 3.0]], "shape"),
    ],
)
def test_a_result_of_the_wrong_kind_is_named(capsys, got, told):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("product", got, WXYZ)

    assert told in lines_of(capsys)[0]
    assert check_quat_mul.passed is False


def test_an_infinite_error_never_passes(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("finite", np.inf, 1.0)
        check.close("rtol", np.inf, 1.0, rtol=1.0)

    assert not any(line.endswith("ok") for line in lines_of(capsys))


def test_lists_tuples_and_integers_are_as_good_as_arrays(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("list", [1, 0, 0], np.array([1.0, 0.0, 0.0]))
        check.close("tuple", (1.0, 0.0), [1.0, 0.0])
        check.equal("numpy integer", np.int64(7), 7)
        check.equal("array as list", np.arange(3), [0, 1, 2])

    assert check_quat_mul.passed is True


def test_equal_true_and_unchanged_say_what_is_wrong(capsys):
    before, after = np.ones(3), np.zeros(3)

    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.equal("nq", 6, 7)
        check.true("unit length", False, "its length is 2")
        check.unchanged("input", before, after)

    text = "\n".join(lines_of(capsys))
    assert "6; 7 expected" in text
    assert "its length is 2" in text
    assert "the function changes its input" in text


def test_raises_wants_the_exception_or_a_subclass(capsys):
    class MissingName(KeyError):
        pass

    def strict(name):
        raise MissingName(name)

    def wrong(name):
        raise TypeError(name)

    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.raises("subclass", KeyError, strict, "a")
        check.raises("other", KeyError, wrong, "a")
        check.raises("none", KeyError, len, "a")

    lines = lines_of(capsys)
    assert lines[0].endswith("ok")
    assert "it raises TypeError; KeyError is asked for" in lines[1]
    assert "it accepts the value" in lines[2]


def test_a_stub_gives_one_line_and_no_traceback(capsys):
    def quat_mul(a, b):
        raise NotImplementedError

    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("product", quat_mul(1, 2), 3)

    (line,) = lines_of(capsys)
    assert line.endswith("quat_mul is not written yet")
    assert check_quat_mul.passed is False


def test_an_error_in_the_answer_names_the_line(capsys):
    def quat_mul(a, b):
        return a / (b - b)

    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("ordinary", 1, 1)
        check.close("product", quat_mul(1, 2), 3)

    lines = lines_of(capsys)
    assert lines[0].endswith("ok")
    assert "quat_mul stops with ZeroDivisionError" in lines[1]
    assert "return a / (b - b)" in lines[1]


def test_a_missing_function_says_which_cell_to_run(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("product", quat_mul_that_nobody_wrote(1, 2), 3)  # noqa: F821

    assert "quat_mul_that_nobody_wrote does not exist here" in lines_of(capsys)[0]


def test_a_check_that_compares_nothing_has_not_passed(capsys):
    @visible_check("quat_mul")
    def check_quat_mul(check):
        pass

    assert check_quat_mul.passed is False


def test_a_check_can_be_called_again_after_a_change(capsys):
    answer = [1.0]

    @visible_check("quat_mul")
    def check_quat_mul(check):
        check.close("value", answer[0], 2.0)

    assert check_quat_mul.passed is False
    answer[0] = 2.0
    assert check_quat_mul() is True
    assert lesson.current().checks["quat_mul"].passed


def test_nothing_runs_under_grading(capsys, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")

    @visible_check("quat_mul")
    def check_quat_mul(check):
        raise AssertionError("ran under grading")

    assert check_quat_mul.passed is None
    assert capsys.readouterr().out == ""


def test_the_instructors_version_stops_at_a_failing_check(monkeypatch):
    monkeypatch.setenv("MJCOURSE_STRICT", "1")
    with pytest.raises(CheckFailed, match="quat_mul"):

        @visible_check("quat_mul")
        def check_quat_mul(check):
            check.close("product", 1.0, 2.0)


def test_an_experiment_becomes_what_it_returns():
    @mjcourse.experiment
    def drift():
        return 42

    assert drift == 42


def test_an_experiment_on_a_stub_prints_one_line_and_is_none(capsys):
    def slerp():
        raise NotImplementedError

    @mjcourse.experiment
    def slerp_table():
        return slerp()

    assert slerp_table is None
    assert capsys.readouterr().out == "slerp table: slerp is not written yet\n"


def test_an_experiment_does_not_run_under_grading(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    ran = []

    @mjcourse.experiment
    def costly():
        ran.append(1)

    assert costly is None
    assert not ran


def test_the_instructors_version_stops_at_a_failing_experiment(monkeypatch):
    monkeypatch.setenv("MJCOURSE_STRICT", "1")
    with pytest.raises(ZeroDivisionError):

        @mjcourse.experiment
        def broken():
            return 1 / 0
