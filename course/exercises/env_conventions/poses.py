"""Mistakes in what a pose is, `(pos, quat)`, that every answer which returns one can make."""

from __future__ import annotations

from collections.abc import Callable


def slips_in_the_pair(slip: Callable[..., None]) -> None:
    """Let `slip` (of `Exercise.slips`, on a cell that ends in `return pos, quat`) make them."""
    slip(
        "quat_before_pos",
        "The result is (quat, pos); a pose is (pos, quat).",
        ("return pos, quat", "return quat, pos"),
    )
    slip(
        "one_vector_of_seven",
        "The pose comes as one vector of seven numbers; a pose here is a pair `(pos, quat)`.",
        ("return pos, quat", "return np.concatenate([pos, quat])"),
    )
    slip(
        "a_matrix_for_the_quaternion",
        "The rotation comes as a matrix; a pose here is `(pos, quat)`.",
        (".as_quat()", ".as_matrix()"),
    )
