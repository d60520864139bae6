"""Random rotations for the cases of this lesson, each list from its own seed."""

from __future__ import annotations

import mujoco
import numpy as np


def quats(seed: int, count: int) -> list[np.ndarray]:
    """`count` unit quaternions (4,), scalar first, uniform over rotations; both signs occur."""
    drawn = np.random.default_rng(seed).normal(size=(count, 4))
    return list(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def axes(seed: int, count: int) -> list[np.ndarray]:
    """`count` unit vectors (3,), uniform over the sphere."""
    drawn = np.random.default_rng(seed).normal(size=(count, 3))
    return list(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def vectors(seed: int, count: int) -> list[np.ndarray]:
    """`count` vectors (3,) of any length."""
    return list(2.0 * np.random.default_rng(seed).normal(size=(count, 3)))


def angles(seed: int, count: int, low: float = -np.pi, high: float = np.pi) -> list[float]:
    """`count` angles in radians, uniform in `[low, high)`, as Python floats."""
    return np.random.default_rng(seed).uniform(low, high, count).tolist()


def matrix(quat: np.ndarray) -> np.ndarray:
    """The rotation matrix (3, 3) of a unit quaternion, scalar first."""
    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, quat)
    return flat.reshape(3, 3)


def about(axis: tuple[float, float, float] | np.ndarray, angle: float) -> np.ndarray:
    """The unit quaternion (4,) of a turn of `angle` rad about `axis` (normalised here)."""
    quat = np.empty(4)
    mujoco.mju_axisAngle2Quat(quat, np.asarray(axis, float) / np.linalg.norm(axis), angle)
    return quat


def compose(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The quaternion product `first second` (4,)."""
    quat = np.empty(4)
    mujoco.mju_mulQuat(quat, first, second)
    return quat
