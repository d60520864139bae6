"""Whatever a student hands in is read, repaired or named; nothing of it leaves its folder."""

import copy
import io
import json
import zipfile

import pytest

from course import intake
from course.collect import NothingToCollect, collect, student_id
from course.intake import Unreadable, find_submissions, parse_notebook, read_submission
from course.paths import DataFolders
from course.repair import NotThisLesson, repair_against
from tests import toy_lesson as toy


@pytest.fixture(scope="module")
def lesson():
    return toy.toy_template()


@pytest.fixture
def folders(tmp_path, lesson, monkeypatch):
    for module in ("course.intake", "course.repair"):
        monkeypatch.setattr(f"{module}.template", lambda _id: lesson)
    return DataFolders(tmp_path)


def read(folders):
    (found,) = find_submissions(folders, toy.LESSON)
    return read_submission(found)


def kinds(problems):
    return [problem.kind for problem in problems]


def without(notebook, *grade_ids):
    notebook["cells"] = [
        c
        for c in notebook["cells"]
        if c["metadata"].get("nbgrader", {}).get("grade_id") not in grade_ids
    ]
    return notebook


def order(notebook):
    return [c["metadata"].get("nbgrader", {}).get("grade_id", "") for c in notebook["cells"]]


# Repair


def test_an_ordinary_submission_needs_no_repair(lesson):
    repaired, problems = repair_against(lesson, toy.solved())
    assert problems == []
    assert toy.find(repaired, "double")["source"] == toy.SOLUTIONS["double"]


def test_hidden_tests_are_back_in_the_test_cells(lesson):
    repaired, _ = repair_against(lesson, toy.solved())
    assert "grade('toy', 'double')" in toy.find(repaired, "test_double")["source"]
    assert "grade(" not in toy.find(toy.solved(), "test_double")["source"]


def test_the_given_notebook_is_left_as_it_was(lesson):
    given = toy.solved()
    before = copy.deepcopy(given)
    repair_against(lesson, given)
    assert given == before


def test_outputs_are_left_behind(lesson):
    given = toy.solved()
    given["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "5"}]
    repaired, _ = repair_against(lesson, given)
    assert all(not c.get("outputs") for c in repaired["cells"])


def test_of_two_copies_the_last_edited_one_counts(lesson):
    given = toy.solved()
    at = order(given).index("double")
    old = copy.deepcopy(given["cells"][at])
    old["source"] = "def double(x):\n    return x"
    given["cells"].insert(at, old)
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems) == ["duplicate_cell", "cell_ids"]
    assert "number 2" in problems[0].message
    assert toy.find(repaired, "double")["source"] == toy.SOLUTIONS["double"]
    assert any(c["source"] == old["source"] for c in repaired["cells"])


def test_an_untouched_copy_of_the_stub_takes_nobodys_place(lesson):
    given = toy.solved()
    at = order(given).index("double")
    given["cells"].insert(at + 1, copy.deepcopy(toy.find(toy.release(), "double")))
    repaired, problems = repair_against(lesson, given)
    assert "duplicate_cell" in kinds(problems)
    assert toy.find(repaired, "double")["source"] == toy.SOLUTIONS["double"]
    assert not any("NotImplementedError" in c["source"] for c in repaired["cells"])


def test_an_answer_written_in_a_new_cell_counts_though_the_stub_is_untouched(lesson):
    given = toy.release()
    new = {"cell_type": "code", "id": "new", "metadata": {}, "source": toy.SOLUTIONS["double"]}
    given["cells"].append(new)
    repaired, problems = repair_against(lesson, given)
    assert toy.find(repaired, "double")["source"] == toy.SOLUTIONS["double"]
    assert order(repaired).index("test_double") > order(repaired).index("double")
    assert "duplicate_cell" in kinds(problems)


def test_a_copied_test_cell_leaves_one_test_cell(lesson):
    given = toy.solved()
    given["cells"].append(copy.deepcopy(toy.find(given, "test_double")))
    repaired, problems = repair_against(lesson, given)
    assert order(repaired).count("test_double") == 1
    assert "duplicate_cell" in kinds(problems)


@pytest.mark.parametrize("gone", ["test_double", "check_triple", "header_setup"])
def test_a_deleted_locked_cell_is_put_back_where_it_was(lesson, gone):
    repaired, problems = repair_against(lesson, without(toy.solved(), gone))
    assert kinds(problems) == ["cell_restored"]
    assert gone in problems[0].message
    assert order(repaired) == order(toy.solved())


def test_a_deleted_answer_is_put_back_as_the_stub(lesson):
    repaired, problems = repair_against(lesson, without(toy.solved(), "double"))
    assert kinds(problems) == ["cell_restored"]
    assert "NotImplementedError" in toy.find(repaired, "double")["source"]


def test_answers_merged_into_one_cell_are_not_overruled_by_a_stub(lesson):
    given = without(toy.solved(), "triple")
    toy.find(given, "double")["source"] = toy.SOLUTIONS["double"] + toy.SOLUTIONS["triple"]
    repaired, _ = repair_against(lesson, given)
    assert not any("NotImplementedError" in c["source"] for c in repaired["cells"])


@pytest.mark.parametrize("edited", ["test_double", "check_double"])
def test_an_edited_locked_cell_is_restored(lesson, edited):
    given = toy.solved()
    toy.find(given, edited)["source"] = "3.0"
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems) == ["locked_cell_edited"]
    assert toy.find(repaired, edited)["source"] == lesson.known[edited].source


def test_white_space_is_no_edit(lesson):
    given = toy.solved()
    for cell in given["cells"]:
        cell["source"] = cell["source"].replace("\n", "  \r\n") + "\n\n"
    _, problems = repair_against(lesson, given)
    assert problems == []


def test_an_import_added_to_the_setup_cell_still_runs(lesson):
    given = toy.solved()
    toy.find(given, "header_setup")["source"] += "\nimport fractions"
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems)[0] == "locked_cell_edited"
    at = order(repaired).index("header_setup")
    assert repaired["cells"][at]["source"] == lesson.known["header_setup"].source
    assert "import fractions" in repaired["cells"][at + 1]["source"]


def test_changed_points_are_put_right(lesson):
    given = toy.solved()
    toy.find(given, "test_double")["metadata"]["nbgrader"]["points"] = 300
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems) == ["points_changed"]
    assert toy.find(repaired, "test_double")["metadata"]["nbgrader"]["points"] == 3


@pytest.mark.parametrize("points", [None, "many", [], float("nan")])
def test_points_of_a_wrong_type_are_put_right(lesson, points):
    given = toy.solved()
    toy.find(given, "test_double")["metadata"]["nbgrader"]["points"] = points
    repaired, problems = repair_against(lesson, given)
    assert "points_changed" in kinds(problems)
    assert toy.find(repaired, "test_double")["metadata"]["nbgrader"]["points"] == 3


def test_a_test_cell_that_says_it_is_no_grade_is_graded(lesson):
    given = toy.solved()
    toy.find(given, "test_double")["metadata"]["nbgrader"].update(grade=False, locked=False)
    repaired, problems = repair_against(lesson, given)
    assert "metadata_changed" in kinds(problems)
    assert toy.find(repaired, "test_double")["metadata"]["nbgrader"]["grade"] is True


def stripped(notebook, ids):
    """What Colab may leave: no nbgrader metadata; its own ids, or none."""
    for index, cell in enumerate(notebook["cells"]):
        cell["metadata"] = {"id": f"Xy{index}", "colab": {"base_uri": "https://localhost"}}
        if ids == "kept":
            continue
        del cell["id"]
    return notebook


@pytest.mark.parametrize("ids", ["kept", "gone"])
def test_lost_metadata_are_found_again(lesson, ids):
    repaired, problems = repair_against(lesson, stripped(toy.solved(), ids))
    assert [i for i in order(repaired) if i] == [i for i in order(toy.solved()) if i]
    for id, text in toy.SOLUTIONS.items():
        assert toy.find(repaired, id)["source"] == text
    assert "addition" in toy.find(repaired, "triple_explain")["source"]
    assert kinds(problems) == ["metadata_lost", "cell_ids"][: 1 if ids == "kept" else 2]


def test_an_answer_that_does_not_parse_is_still_recognised_by_its_name(lesson):
    given = stripped(toy.solved(double="def double(x):\n    return (x +\n"), "gone")
    repaired, _ = repair_against(lesson, given)
    assert "return (x +" in toy.find(repaired, "double")["source"]


def test_another_kernel_is_replaced_and_named(lesson):
    given = toy.solved()
    given["metadata"]["kernelspec"] = {"name": "conda-env-mj-py", "display_name": "mj"}
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems) == ["kernel"]
    assert repaired["metadata"]["kernelspec"]["name"] == "python3"


def test_missing_and_repeated_cell_ids_are_given_and_always_the_same(lesson):
    given = toy.solved()
    for cell in given["cells"]:
        cell["id"] = "same"
    first, problems = repair_against(lesson, given)
    second, _ = repair_against(lesson, given)
    ids = [c["id"] for c in first["cells"]]
    assert len(set(ids)) == len(ids)
    assert first == second
    assert "cell_ids" in kinds(problems)


def test_an_answer_turned_into_text_becomes_code_again(lesson):
    given = toy.solved()
    cell = toy.find(given, "double")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems) == ["cell_type_changed"]
    assert toy.find(repaired, "double")["cell_type"] == "code"


def test_a_test_moved_before_its_answer_is_moved_behind_it(lesson):
    given = toy.solved()
    at = order(given).index("test_double")
    given["cells"].insert(0, given["cells"].pop(at))
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems) == ["cell_moved"]
    assert order(repaired).index("test_double") > order(repaired).index("double")


def test_a_cell_of_another_version_becomes_plain_text(lesson):
    given = toy.solved()
    old = copy.deepcopy(toy.find(given, "double"))
    old["metadata"]["nbgrader"]["grade_id"], old["id"] = "halve", "halve"
    old["source"] = "def halve(x):\n    return x / 2"
    given["cells"].append(old)
    repaired, problems = repair_against(lesson, given)
    assert kinds(problems) == ["unknown_cell"]
    assert "halve" not in order(repaired)


def test_another_lessons_notebook_is_named(lesson):
    other = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "source": 'mjcourse.begin(\n    "pipeline", 1)'},
            copy.deepcopy(toy.find(toy.solved(), "header_setup")),
        ],
        "metadata": {},
    }
    with pytest.raises(NotThisLesson, match="'pipeline', not of 'toy'"):
        repair_against(lesson, other)


@pytest.mark.parametrize(
    "cells",
    [
        None,
        "cells",
        [None, 3, "text", []],
        [{"cell_type": 5, "source": 7, "metadata": "no", "id": 9}],
        [{"source": ["def double(x):\n", 5, "    return x"]}],
        [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": ["double"]}}}],
    ],
)
def test_wrong_types_anywhere_are_no_error_of_ours(lesson, cells):
    with pytest.raises(NotThisLesson):
        repair_against(lesson, {"cells": cells, "metadata": "none", "nbformat": "x"})


def test_wrong_types_beside_an_answer_do_not_hide_it(lesson):
    given = toy.solved()
    given["cells"] += [None, {"cell_type": "video", "source": {"a": 1}}, {"metadata": []}]
    given["metadata"] = []
    repaired, _ = repair_against(lesson, given)
    assert toy.find(repaired, "double")["source"] == toy.SOLUTIONS["double"]


def test_lone_surrogates_can_be_written_again(lesson):
    given = toy.solved(double="# \ud800\n" + toy.SOLUTIONS["double"])
    repaired, _ = repair_against(lesson, given)
    json.dumps(repaired, ensure_ascii=False).encode("utf-8")


def test_repair_gives_what_nbgrader_accepts(lesson):
    import nbformat
    from nbgrader.nbgraderformat import MetadataValidator

    repaired, _ = repair_against(lesson, stripped(toy.solved(), "gone"))
    node = nbformat.from_dict(repaired)
    nbformat.validate(node)
    MetadataValidator().validate_nb(node)


# Files


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (b"", "empty", "empty"),
        (b"  \n", "empty", "empty"),
        (json.dumps(toy.solved())[:-200].encode(), "unreadable", "cut off"),
        (b'{"cells": [{"cell_type": "co', "unreadable", "cut off"),
        (b"PK\x03\x04\xff\xff\x80", "not_a_notebook", "zip"),
        (b"%PDF-1.7 \xff\xfe\x80", "not_a_notebook", "PDF"),
        (b"\x80\x04\x95 pickle", "not_a_notebook", "binary"),
        (b"<!doctype html><html>", "unreadable", "web page"),
        (b"def double(x): return 2*x", "unreadable", "not JSON"),
        (b"[1, 2]", "not_a_notebook", "no notebook"),
        (b'{"a": 1}', "not_a_notebook", "no notebook"),
        (b'{"cells": "none"}', "not_a_notebook", "no notebook"),
        (b"[" * 200_000, "unreadable", "nested"),
        (b'{"worksheets": 5, "nbformat": 3}', "unreadable", "old notebook"),
    ],
)
def test_a_file_that_is_no_notebook_is_named(data, kind, says):
    with pytest.raises(Unreadable, match=says) as caught:
        parse_notebook(data)
    assert caught.value.problem.kind == kind


def test_byte_order_marks_and_utf_16_are_read():
    text = json.dumps(toy.solved())
    assert parse_notebook(b"\xef\xbb\xbf" + text.encode()) == toy.solved()
    assert parse_notebook(text.encode("utf-16")) == toy.solved()


def test_too_much_text_is_refused():
    with pytest.raises(Unreadable, match="MB of text"):
        parse_notebook(json.dumps(toy.solved(double="x = 1\n" * 500_000)).encode())


def test_a_huge_file_is_not_even_read(folders, monkeypatch):
    monkeypatch.setattr(intake, "MAX_BYTES", 1000)
    toy.hand_in(folders.root, "ada", toy.solved())
    got = read(folders)
    assert got.notebook is None
    assert kinds(got.problems) == ["too_large"]


def test_nbformat_3_is_converted(folders):
    import nbformat

    four = nbformat.from_dict(stripped(toy.solved(), "gone"))
    three = nbformat.convert(four, 3)
    toy.hand_in(folders.root, "ada", json.dumps(three))
    got = read(folders)
    assert "old_format" in kinds(got.problems)
    assert toy.find(got.notebook, "double")["source"].strip() == toy.SOLUTIONS["double"].strip()


def test_nbformat_4_0_is_read(folders):
    old = stripped(toy.solved(), "gone")
    old["nbformat_minor"] = 0
    toy.hand_in(folders.root, "ada", old)
    assert read(folders).notebook is not None


@pytest.mark.parametrize(
    "name",
    [
        "Copy of toy.ipynb",
        "toy (1).ipynb",
        "toy(2).ipynb",
        "toy-1.ipynb",
        "toy--2026-12-01T12-30-00Z.ipynb",
        "Copy of Copy of toy (3).ipynb",
        "toy.ipynb.txt",
        "Lovelace final.ipynb",
        "r\u00f6tations \U0001f600.ipynb",
        "-rf.ipynb",
        "<script>alert(1)<.ipynb",
    ],
)
def test_a_renamed_notebook_is_graded_and_named(folders, name):
    toy.hand_in(folders.root, "ada", toy.solved(), name)
    got = read(folders)
    assert toy.find(got.notebook, "double")["source"] == toy.SOLUTIONS["double"]
    assert kinds(got.problems) == ["renamed"]
    assert (got.problems[0].student, got.problems[0].lesson) == ("ada", "toy")


def test_of_several_notebooks_the_one_handed_in_last_counts(folders):
    for name, answer in (
        ("toy.ipynb", "1"),
        ("toy--2026-12-01T12-30-00Z.ipynb", "2"),
        ("toy--2026-12-01T13-00-00Z.ipynb", "3"),
        ("toy (1).ipynb", "4"),
    ):
        toy.hand_in(folders.root, "ada", toy.solved(six_nines=f"product = {answer}"), name)
    got = read(folders)
    assert toy.find(got.notebook, "six_nines")["source"] == "product = 3"
    assert kinds(got.problems) == ["renamed", "several_notebooks"]


def test_a_notebook_of_another_course_beside_it_does_not_count(folders):
    other = {"cells": [{"cell_type": "code", "metadata": {}, "source": "1"}], "metadata": {}}
    toy.hand_in(folders.root, "ada", other, "toy.ipynb")
    toy.hand_in(folders.root, "ada", toy.solved(), "mine.ipynb")
    got = read(folders)
    assert got.notebook is not None
    assert kinds(got.problems) == ["renamed", "several_notebooks"]


def test_a_broken_copy_beside_a_good_one_is_named(folders):
    toy.hand_in(folders.root, "ada", b"{", "toy.ipynb")
    toy.hand_in(folders.root, "ada", toy.solved(), "toy (1).ipynb")
    got = read(folders)
    assert got.notebook is not None
    assert kinds(got.problems) == ["unreadable", "renamed", "several_notebooks"]


def test_an_empty_folder_is_a_problem_and_a_student_without_one_is_not(folders):
    (folders.submitted / "ada" / "toy").mkdir(parents=True)
    (folders.submitted / "bob" / "pipeline").mkdir(parents=True)
    got = read(folders)
    assert got.notebook is None
    assert kinds(got.problems) == ["no_notebook"]


def test_a_notebook_one_folder_too_high_is_found(folders):
    path = toy.hand_in(folders.root, "ada", toy.solved())
    path.rename(folders.submitted / "ada" / "Copy of toy.ipynb")
    path.parent.rmdir()
    got = read(folders)
    assert got.notebook is not None
    assert kinds(got.problems) == ["misplaced", "renamed"]


def test_symbolic_links_are_never_followed(folders, tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_text(json.dumps(toy.solved()))
    for student, link in (
        ("file", "submitted/file/toy/toy.ipynb"),
        ("folder", "submitted/folder/toy"),
        ("home", "submitted/home"),
    ):
        path = tmp_path / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(secret if student == "file" else tmp_path)
    for found in find_submissions(folders, "toy"):
        got = read_submission(found)
        assert got.notebook is None
        assert "symbolic_link" in kinds(got.problems)


def test_submissions_come_in_the_order_of_their_students(folders):
    for student in ("cy", "ada", "bob"):
        toy.hand_in(folders.root, student, toy.solved())
    assert [s.student for s in find_submissions(folders, "toy")] == ["ada", "bob", "cy"]
    assert [s.student for s in find_submissions(folders, "toy", "bob")] == ["bob"]


def test_nbgraders_timestamp_is_read_and_a_bad_one_is_no_error(folders):
    stamp = toy.hand_in(folders.root, "ada", toy.solved()).with_name("timestamp.txt")
    stamp.write_text("2026-12-01 10:00:00 UTC")
    (found,) = find_submissions(folders, "toy")
    assert str(found.timestamp) == "2026-12-01 10:00:00"
    stamp.write_text("yesterday")
    (found,) = find_submissions(folders, "toy")
    assert found.timestamp is None


def test_names_that_are_no_text_are_named_and_stop_nobody(folders):
    import os

    toy.hand_in(folders.root, "ada", toy.solved())
    home = os.fsencode(folders.submitted)
    os.rename(home + b"/ada/toy/toy.ipynb", home + b"/ada/toy/r\xe9sum\xe9.ipynb")
    os.makedirs(home + b"/b\xe9la/toy")
    first, second = map(read_submission, find_submissions(folders, "toy"))
    assert first.notebook is not None
    assert (kinds(first.problems), kinds(second.problems)) == (["renamed"], ["bad_name"])
    for problem in (*first.problems, *second.problems):
        json.dumps(problem.to_json(), ensure_ascii=False).encode("utf-8")


# Collecting


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as into:
        for name, data in files.items():
            into.writestr(name, data if isinstance(data, bytes) else json.dumps(data))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("Ada Lovelace_1234567_assignsubmission_file_/toy.ipynb", "Ada_Lovelace_1234567"),
        ("Ada Lovelace_1234567_assignsubmission_file_toy.ipynb", "Ada_Lovelace_1234567"),
        ("lovelaceada_12345_678901_toy-1.ipynb", "lovelaceada_12345"),
        ("lovelaceada_LATE_12345_678901_Copy of toy.ipynb", "lovelaceada_12345"),
        ("ada/toy/toy.ipynb", "ada"),
        ("submitted/ada/toy/toy.ipynb", "ada"),
        ("ada/toy (1).ipynb", "ada"),
        ("ada.ipynb", "ada"),
        ("ada+toy+2026-12-01 10:00:00 UTC/toy.ipynb", "ada"),
    ],
)
def test_a_zip_says_whose_each_submission_is(folders, tmp_path, name, student):
    source = tmp_path / "all.zip"
    source.write_bytes(zipped({name: toy.solved()}))
    done = collect(source, "toy", folders)
    path = folders.submitted / student / "toy" / "toy.ipynb"
    assert done.written == [path]
    assert json.loads(path.read_text()) == toy.solved()
    again = collect(source, "toy", folders)
    assert (again.written, again.unchanged) == ([], [path])


def test_of_an_exchange_the_latest_counts_and_its_timestamp_comes_along(folders, tmp_path):
    inbound = tmp_path / "inbound"
    for stamp, answer in (("09:00:00", "1"), ("11:00:00", "2"), ("10:00:00", "3")):
        folder = inbound / f"ada+toy+2026-12-01 {stamp} UTC+x{answer}"
        folder.mkdir(parents=True)
        made = toy.solved(six_nines=f"product = {answer}")
        (folder / "toy.ipynb").write_text(json.dumps(made))
        (folder / "timestamp.txt").write_text(f"2026-12-01 {stamp} UTC")
    other = inbound / "ada+pipeline+2026-12-01 12:00:00 UTC"
    other.mkdir()
    (other / "pipeline.ipynb").write_text("{}")
    collect(inbound, "toy", folders)
    got = read(folders)
    assert toy.find(got.notebook, "six_nines")["source"] == "product = 2"
    assert str(got.submission.timestamp) == "2026-12-01 11:00:00"


def test_a_zip_inside_a_zip_is_opened_once(folders, tmp_path):
    inner = zipped({"toy--2026-12-01T12-30-00Z.ipynb": toy.solved()})
    name = "Ada Lovelace_7_assignsubmission_file_/work.zip"
    source = tmp_path / "all.zip"
    source.write_bytes(zipped({name: inner}))
    assert len(collect(source, "toy", folders).written) == 1


@pytest.mark.parametrize(
    "name",
    ["../../evil/toy.ipynb", "/etc/evil.ipynb", "..\\..\\evil.ipynb", "ada/../../x.ipynb"],
)
def test_names_that_lead_outside_are_left_out(folders, tmp_path, name):
    source = tmp_path / "all.zip"
    source.write_bytes(zipped({name: toy.solved()}))
    done = collect(source, "toy", folders)
    assert done.written == []
    assert kinds(done.problems) == ["unsafe_path"]
    assert [p.name for p in tmp_path.iterdir()] == ["all.zip"]


def test_links_in_a_zip_are_left_out(folders, tmp_path):
    source = tmp_path / "all.zip"
    with zipfile.ZipFile(source, "w") as into:
        link = zipfile.ZipInfo("ada/toy.ipynb")
        link.external_attr = 0o120777 << 16
        into.writestr(link, "/etc/passwd")
    assert kinds(collect(source, "toy", folders).problems) == ["unsafe_path"]


def test_a_damaged_zip_is_named(folders, tmp_path):
    source = tmp_path / "all.zip"
    data = zipped({"ada/toy.ipynb": json.dumps(toy.solved()).encode() * 3})
    source.write_bytes(data.replace(b"cell_type", b"cell_tipe", 5))
    done = collect(source, "toy", folders)
    assert kinds(done.problems) == ["unreadable"]


def test_a_single_file_needs_a_student(folders, tmp_path):
    source = tmp_path / "toy (1).ipynb"
    source.write_text(json.dumps(toy.solved()))
    assert kinds(collect(source, "toy", folders).problems) == ["no_student"]
    assert len(collect(source, "toy", folders, student="ada").written) == 1


def test_a_folder_without_notebooks_says_what_is_understood(folders, tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(NothingToCollect, match="Moodle"):
        collect(tmp_path / "none", "toy", folders)


@pytest.mark.parametrize("name", ["../x", "/etc", "a/b", "..", ".hidden", "-rf", "a\0b", "a\nb"])
def test_a_students_id_is_one_folders_name(name):
    made = student_id(name)
    assert "/" not in made
    assert "\0" not in made
    assert not made.startswith((".", "-"))
