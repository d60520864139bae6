"""The command line: `python -m course <verb>`. Every verb says what it wrote.

Exit status: 0 when all is well (a submission that cannot be graded is listed with its reason),
1 when something is wrong or a submission was lost, 2 when the command cannot be understood,
130 when it was interrupted. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.paths import DataFolders

# As in `course.exercises`, which imports NumPy and MuJoCo; a test keeps the two equal.
LESSONS = ("generalized_coordinates", "rotations", "pipeline", "env_conventions")


class CannotGoOn(Exception):
    """A command that cannot be carried out; the message names the thing and the way out."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; return its exit status."""
    # One thread for each process: graders run side by side, and results do not depend on it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    parser = build_parser()
    given = parser.parse_args(arguments)
    try:
        return int(given.run(given) or 0)
    except KeyboardInterrupt:
        print("\nInterrupted. What was finished stands; run it again to go on.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:
        if os.environ.get("MJCOURSE_TRACEBACK"):
            raise
        print(f"course {given.verb}: {_said(error)}", file=sys.stderr)
        if not _expected(error):
            print("  MJCOURSE_TRACEBACK=1 shows where.", file=sys.stderr)
        return 1


def _said(error: Exception) -> str:
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if _expected(error) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _expected(error: Exception) -> bool:
    """Whether the error is one of ours, whose message says all."""
    return type(error).__module__.startswith("course") or isinstance(error, FileNotFoundError)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all verbs."""
    parser = argparse.ArgumentParser(
        prog="python -m course",
        description="The instructor's side of mjcourse: release lessons, grade, give feedback.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")

    release = _verb(verbs, "release", _release, "build source and release notebooks")
    _lessons(release)
    release.add_argument(
        "--check", action="store_true", help="write nothing; fail when a file would change"
    )

    adopt = _verb(verbs, "adopt", _adopt, "write an edit of a source notebook into its truth")
    adopt.add_argument("lesson", choices=LESSONS, metavar="LESSON", help=", ".join(LESSONS))

    verify = _verb(verbs, "verify", _verify, "grade references, stubs, misconceptions and variants")
    _lessons(verify)

    run = _verb(verbs, "run", _run, "run a lesson headless and print its figures")
    run.add_argument("lesson", choices=LESSONS, metavar="LESSON", help=", ".join(LESSONS))

    collect = _verb(
        verbs, "collect", _collect, "bring an LMS's zip, an exchange or a folder into submitted/"
    )
    collect.add_argument("source", type=Path, metavar="SOURCE", help="a zip, a folder or a file")
    collect.add_argument("lesson", choices=LESSONS, metavar="LESSON", help=", ".join(LESSONS))
    collect.add_argument("--student", metavar="ID", help="whose it is, for a single file")
    _data(collect)

    grade = _verb(verbs, "grade", _grade, "grade what lies in submitted/")
    _lessons(grade)
    grade.add_argument("--student", metavar="ID", help="grade this student's submissions only")
    grade.add_argument(
        "--workers", type=_positive, metavar="N", help="processes side by side (one for each core)"
    )
    grade.add_argument("--dask", metavar="ADDRESS", help="grade on this Dask cluster")
    grade.add_argument(
        "--trust-submissions",
        action="store_true",
        help="run submissions without a sandbox, where the system offers none",
    )
    _data(grade)

    feedback = _verb(verbs, "feedback", _feedback, "write each student's feedback page")
    _lessons(feedback)
    feedback.add_argument("--student", metavar="ID", help="of this student only")
    _data(feedback)

    report = _verb(verbs, "report", _report, "write the class report and grades.csv")
    _data(report)

    publish = _verb(verbs, "publish", _publish, "write the student's tree for a public repository")
    publish.add_argument("folder", type=Path, metavar="DIR")

    demo = _verb(verbs, "demo", _demo, "release, grade an example class, say where things lie")
    demo.add_argument("--root", type=Path, metavar="DIR", help="where to (default: demo/)")
    demo.add_argument("--workers", type=_positive, metavar="N", help=argparse.SUPPRESS)

    lab = _verb(verbs, "lab", _lab, "open the lessons in JupyterLab, on a working copy")
    lab.add_argument("arguments", nargs=argparse.REMAINDER, help="for jupyter lab")
    return parser


def _verb(verbs: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + "."
    )
    parser.set_defaults(run=run)
    return parser


def _lessons(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "lessons",
        nargs="*",
        metavar="LESSON",
        help=f"{', '.join(LESSONS)}; all of them unless given",
    )


def _data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="folder of the course's data: submitted, gradebook.db, autograded, feedback, report "
        "(default: this checkout)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcome as JSON too")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _asked(given: argparse.Namespace) -> list[str]:
    """The lessons of the command line; all that have a truth when none is named."""
    unknown = [name for name in given.lessons if name not in LESSONS]
    if unknown:
        raise CannotGoOn(
            f"no lesson is called {unknown[0]!r}; the course has: {', '.join(LESSONS)}"
        )
    if given.lessons:
        return list(dict.fromkeys(given.lessons))
    from course.paths import truth_path

    return [lesson for lesson in LESSONS if truth_path(lesson).is_file()]


def _folders(given: argparse.Namespace) -> DataFolders:
    from course.paths import CHECKOUT, DataFolders

    root = (given.root or CHECKOUT).resolve()
    if not root.is_dir():
        raise CannotGoOn(f"--root {given.root} is no folder; make it, or name another")
    return DataFolders(root)


def _write_json(given: argparse.Namespace, data: Any) -> None:
    if given.json is not None:
        from course.files import write_whole

        write_whole(given.json, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        _wrote(given.json)


def _wrote(path: Path, what: str = "") -> None:
    print(f"wrote {_short(path)}{f'  ({what})' if what else ''}")


def _short(path: Path) -> str:
    """The path as seen from here, when it lies below."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _release(given: argparse.Namespace) -> int:
    from course.release.build import release_lessons

    built = release_lessons(_asked(given), write=not given.check)
    changed = [item for item in built if item.changed]
    if given.check:
        for item in changed:
            print(f"{_short(item.path)} is not what its truth says", file=sys.stderr)
        if changed:
            print("`python -m course release` writes it anew.", file=sys.stderr)
            return 1
        print(f"{len(built)} notebooks are what their truth says.")
        return 0
    for item in changed:
        _wrote(item.path)
    print(f"{len(built) - len(changed)} notebooks were up to date, {len(changed)} written.")
    return 0


def _adopt(given: argparse.Namespace) -> int:
    from course.release.adopt import adopt

    for item in adopt(given.lesson):
        if item.changed:
            _wrote(item.path)
        else:
            print(f"{_short(item.path)} is as it was")
    return 0


def _verify(given: argparse.Namespace) -> int:
    from course.verify import seconds_of_full_solution, table, verify

    verdicts = verify(_asked(given))
    print(table(verdicts))
    for lesson_id in _asked(given):
        seconds = seconds_of_full_solution(lesson_id)
        print(f"{lesson_id}: a full solution is graded in {seconds:.2f} s")
    return 1 if any(verdict.trouble for verdict in verdicts) else 0


def _run(given: argparse.Namespace) -> int:
    from course.run import run_and_print

    run_and_print(given.lesson)
    return 0


def _collect(given: argparse.Namespace) -> int:
    from course.collect import collect

    folders = _folders(given)
    done = collect(given.source, given.lesson, folders, given.student)
    for path in done.written:
        _wrote(path)
    if done.unchanged:
        print(f"{len(done.unchanged)} submissions were there already.")
    for problem in done.problems:
        who = f"{problem.student}: " if problem.student else ""
        print(f"  {problem.kind}: {who}{problem.message}")
    total = len(done.written) + len(done.unchanged)
    print(f"{total} submissions of {given.lesson} in {_short(folders.submitted)}/.")
    written = [str(path.relative_to(folders.root)) for path in done.written]
    _write_json(given, {"written": written, "problems": [p.to_json() for p in done.problems]})
    return 0 if total else 1


def _grade(given: argparse.Namespace) -> int:
    from course.classwork import Options, grade_class

    folders, lessons = _folders(given), _asked(given)
    options = Options(given.workers, given.dask, given.trust_submissions, given.student)
    outcome = grade_class(lessons, folders, options)
    if not outcome.submissions:
        whose = f" of {given.student}" if given.student else ""
        print(
            f"Nothing is handed in{whose} for {', '.join(lessons)}: "
            f"{_short(folders.submitted)}/<student>/<lesson>/ holds no notebook."
        )
    else:
        _print_problems(outcome.problems)
        where = f"{_short(folders.gradebook)} and {_short(folders.autograded)}/"
        print(f"Graded {outcome.graded} of {outcome.submissions} submissions, into {where}.")
    _write_json(given, outcome.to_json())
    for student, lesson, reason in outcome.lost:
        print(f"lost: {student} {lesson}: {reason}", file=sys.stderr)
    return 1 if outcome.failed else 0


def _print_problems(problems: Sequence[Any], limit: int = 40) -> None:
    for problem in problems[:limit]:
        print(f"  {problem.student}  {problem.lesson}  {problem.kind}: {problem.message}")
    if len(problems) > limit:
        print(f"  ... and {len(problems) - limit} more; the class report lists all")


def _feedback(given: argparse.Namespace) -> int:
    from course.feedback import write_feedback

    folders, lessons = _folders(given), _asked(given)
    pages = write_feedback(lessons, folders, given.student)
    if pages:
        print(f"Wrote {len(pages)} pages: {_short(folders.feedback)}/<student>/<lesson>/.")
    else:
        print("No submission is graded yet; `python -m course grade` comes first.")
    _write_json(given, {"pages": [str(path.relative_to(folders.root)) for path in pages]})
    return 0


def _report(given: argparse.Namespace) -> int:
    from course.report import write_report

    folders = _folders(given)
    written = write_report(folders)
    for path in written:
        _wrote(path)
    _write_json(given, {"written": [str(path.relative_to(folders.root)) for path in written]})
    return 0


def _publish(given: argparse.Namespace) -> int:
    from course.publish import publish

    _wrote(publish(given.folder), "the tree that students may see")
    return 0


def _demo(given: argparse.Namespace) -> int:
    from course.demo import demo

    return demo(given.root, workers=given.workers)


def _lab(given: argparse.Namespace) -> int:
    from course.workbench import open_lessons

    open_lessons(given.arguments)
    return 0
