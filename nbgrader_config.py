"""nbgrader for this course: `nbgrader autograde`, `generate_feedback` and formgrader run our code.

nbgrader skips a configuration that fails and goes on with its stock settings, in which a
submission can read the hidden tests and forge its score. So a failure in here ends the command.
"""

import os
import sys
import traceback
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent

c = get_config()  # noqa: F821  (traitlets gives it)

try:
    sys.path.insert(0, str(CHECKOUT))
    # nbgrader calls `alembic` by its name, also where its environment is not activated.
    beside = str(Path(sys.executable).parent)
    if beside not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join((beside, os.environ.get("PATH", os.defpath)))

    from nbgrader.converters import Autograde, GenerateAssignment
    from nbgrader.preprocessors import ClearSolutions, Execute

    import course
    from course.grading.preprocessors import ExecuteApart
    from course.nbgrader_steps import RepairSubmission, StudentPage, finish_release, name_submission
    from course.release.stubs import StubbedSolutions

    if Path(course.__file__).resolve().parent != CHECKOUT / "course":
        raise ImportError(f"'course' is {course.__file__}, not the one beside this file")

    # Data lie where nbgrader is started; the lessons come from this checkout.
    c.CourseDirectory.source_directory = str(CHECKOUT / "source")
    c.CourseDirectory.release_directory = str(CHECKOUT / "release")
    # `source/` holds the truth beside the notebooks, and everything beside a notebook is copied
    # to students and into `autograded/`: nothing but notebooks may pass.
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints",
        "__pycache__",
        "feedback",
        "*.py",
        "*.pyc",
        "*.so",
        "*.pth",
        "*.cfg",
        "*.toml",
        "*.db",
        "*.json",
        "MUJOCO_LOG.TXT",
    ]

    def instead(steps, stock, ours):
        """`steps` with `ours` in the place of `stock`."""
        if stock not in steps:
            raise ImportError(f"this nbgrader has no step {stock.__name__}; 0.9.6 is tested")
        return [ours if step is stock else step for step in steps]

    stock = Autograde()
    c.Autograde.sanitize_preprocessors = [RepairSubmission, *stock.sanitize_preprocessors]
    c.Autograde.autograde_preprocessors = instead(
        stock.autograde_preprocessors, Execute, ExecuteApart
    )
    c.Autograde.pre_convert_hook = name_submission
    c.GenerateAssignment.preprocessors = instead(
        GenerateAssignment().preprocessors, ClearSolutions, StubbedSolutions
    )

    c.GenerateAssignment.post_convert_hook = finish_release

    c.GenerateFeedback.preprocessors = [StudentPage]
    c.HTMLExporter.template_name = "mjcourse"
    c.HTMLExporter.extra_template_basedirs = [str(CHECKOUT / "course" / "templates")]
except Exception:
    traceback.print_exc()
    sys.exit("nbgrader_config.py failed; refusing to go on with nbgrader's stock settings.")
