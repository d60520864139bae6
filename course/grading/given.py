"""What the student process is given for a call: models, data, plain values; and what became of it.

Runs in the student process; imports nothing of the course.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from . import wire
from .observe import Unsupported, changed_fields

# The grader's own values may be large.
WIDE = wire.Bounds(bytes=1 << 29, entries=10_000_000)


class SentModel:
    """A model of the grader's, as it came and as the answer's code sees it.

    Args:
      content: its bytes, as `MjModel.__getstate__` gives them in the grader.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        # What data are read with: reading textures takes longer than all the rest.
        self._light = wire.without_textures(content)
        self._spare: list[Any] = []
        self.model = _model(content)

    def renew(self) -> None:
        """Make the model as it was: a call has changed it."""
        self.model = _model(self._content)

    def changes(self, model: Any) -> dict[str, np.ndarray]:
        """The fields of `model` (this one, or that of data read here) that differ from it."""
        original = self._content if model is self.model else self._light
        if model.__getstate__() == original:
            return {}
        return changed_fields(_model(original), model)

    def data(self, tail: bytes) -> Any:
        """Data from the part of its bytes that follows the model's; its model is its own."""
        data = mujoco.MjData.__new__(mujoco.MjData)
        data.__setstate__(wire.DATA_MARK + self._light + tail)
        return data

    def copy(self, data: Any) -> Any:
        """A copy of data of this model, to be given back: to make data takes longer than a call."""
        if not self._spare:
            return copy.copy(data)
        kept = self._spare.pop()
        mujoco.mj_copyData(kept, data.model, data)
        return kept

    def take_back(self, data: Any) -> None:
        """Keep a copy that nobody needs any more for the next one."""
        self._spare.append(data)


def _model(content: bytes) -> Any:
    model = mujoco.MjModel.__new__(mujoco.MjModel)
    model.__setstate__(content)
    return model


class Given:
    """One argument of a call: its value here, and what it was before.

    Args:
      packed: the argument as it came.
      models: the models that came so far, by number.
      other: makes what is neither plain nor a model nor data (callbacks, instances).
    """

    def __init__(
        self,
        packed: bytes,
        models: Mapping[int, SentModel],
        other: Callable[[int, Sequence[Any]], Any],
    ) -> None:
        self._packed, self._models, self._other = packed, models, other
        self._special_inside = False
        self._tail = b""
        self.before: Any = None  # data as they came
        self.number = -1
        self.value = wire.unpack(packed, self._special, WIDE)

    def _special(self, kind: int, rest: Sequence[Any]) -> Any:
        self._special_inside = True
        if kind == wire.MODEL:
            self.number = rest[0]
            return self.sent.model
        if kind == wire.DATA:
            self.number, tail, compressed = rest
            self._tail = zlib.decompress(tail) if compressed else tail
            data = self.sent.data(self._tail)
            self.before = self.sent.copy(data)
            return data
        return self._other(kind, rest)

    @property
    def sent(self) -> SentModel:
        """The model that it is, or that it is data of."""
        return self._models[self.number]

    def release(self) -> None:
        """Give back what only the comparison needed."""
        if self.before is not None:
            self.sent.take_back(self.before)
            self.before = None

    def after(self, pack: Callable[[Any], bytes]) -> bytes:
        """Packed: `None` when it is as it was, `(value,)`, or the fields that changed."""
        try:
            if isinstance(self.value, mujoco.MjData):
                if wire.data_tail(self.value) == self._tail:
                    return NOTHING
                return wire.pack(changed_fields(self.before, self.value) or None)
            if isinstance(self.value, mujoco.MjModel):
                changes = self.sent.changes(self.value)
                if changes and self.value is self.sent.model:
                    self.sent.renew()
                return wire.pack(changes or None)
            if self._special_inside or self.value is None or type(self.value) in _IMMUTABLE:
                return NOTHING
            return NOTHING if pack(self.value) == self._packed else wire.pack((self.value,))
        except Exception:
            return wire.pack((Unsupported("value that does not cross"),))


NOTHING = wire.pack(None)
_IMMUTABLE = (bool, int, float, str)


def pair_models_with_data(given: Sequence[Given]) -> None:
    """Make the model that a call gets and the model of the data that it gets one and the same.

    Data were read with a model of their own. When a call gets one data of a model, that is the
    model; when it gets several, they are made anew on the model that was sent.
    """
    data: dict[int, list[Given]] = {}
    for one in given:
        if isinstance(one.value, mujoco.MjData):
            data.setdefault(one.number, []).append(one)
    for number, several in data.items():
        if len(several) == 1:
            for one in given:
                if one.number == number and isinstance(one.value, mujoco.MjModel):
                    one.value = several[0].value.model
            continue
        for one in several:
            model = one.sent.model
            fresh = mujoco.MjData(model)
            mujoco.mj_copyData(fresh, model, one.value)
            one.value = fresh
