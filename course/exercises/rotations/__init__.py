"""The lesson `rotations`: its header and its exercises, in the order of the notebook."""

from course.exercises.exercise import Lesson
from course.exercises.rotations import (
    active_passive,
    axis_angle_to_mat,
    axis_angle_to_quat,
    euler_rate_matrix,
    euler_zyx_to_mat,
    interp_branch,
    knowledge_check,
    mat_to_euler_zyx,
    mat_to_quat,
    quat_angle,
    quat_conj,
    quat_mul,
    quat_rotate,
    quat_to_mat,
    slerp,
)

lesson = Lesson(
    "rotations",
    title="Rotations: matrices, Euler angles, axis-angle, quaternions",
    minutes=75,
    needs="matrix products; the lesson `generalized_coordinates`",
    learn=(
        "read one rotation matrix in two ways, and compose rotations in the order you mean",
        "write quaternion products, conversions and slerp that agree with MuJoCo to rounding",
        "say where and why Euler angles fail, and by how much before they do",
        "move between the conventions of MuJoCo, SciPy and URDF without a silent mistake",
    ),
    exercises=(
        active_passive.exercise,
        quat_mul.exercise,
        quat_conj.exercise,
        quat_rotate.exercise,
        quat_to_mat.exercise,
        axis_angle_to_quat.exercise,
        axis_angle_to_mat.exercise,
        mat_to_quat.exercise,
        euler_zyx_to_mat.exercise,
        mat_to_euler_zyx.exercise,
        euler_rate_matrix.exercise,
        slerp.exercise,
        quat_angle.exercise,
        interp_branch.exercise,
        knowledge_check.exercise,
    ),
)
