"""What a student moves: sliders, buttons, toggles and choices, declared with their callables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Which = int | Literal["all"]
"""The simulation a callable gets as `(model, data)`; with `"all"` it gets the list of them."""


@dataclass
class Control:
    """Something with a label that a student acts on. `value` follows the student's hand."""

    label: str


@dataclass
class Slider(Control):
    """A number between `low` and `high`, moved by mouse or keyboard.

    Args:
      label: what it is; unique in its lab, and the name used in messages and by `Lab.set`.
      low, high, value, step: range, first value and resolution, in `unit`.
      unit: printed after the label; no conversion is made.
      on_change: `(model, data, value) -> None`; `mj_forward` follows. With `of="all"`:
        `(simulations, value) -> None`.
      of: see `Which`.
      reapply: call `on_change` at the start and after a reset too, so that scene and slider agree.
    """

    low: float = 0.0
    high: float = 1.0
    value: float = 0.0
    step: float = 0.01
    unit: str = ""
    on_change: Callable[..., Any] | None = None
    of: Which = 0
    reapply: bool = True
    initial: float = field(init=False)

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"slider {self.label!r}: low {self.low} is not below high {self.high}")
        self.value = self.initial = self.checked(self.value)

    def checked(self, value: Any) -> float:
        """`value` as a float in the range. Raises ValueError where it is outside."""
        number = float(value)
        if not self.low <= number <= self.high:
            raise ValueError(
                f"slider {self.label!r} goes from {self.low} to {self.high}: not {number}"
            )
        return number


@dataclass
class Toggle(Control):
    """A switch. `on_change` as for `Slider`, with a bool."""

    value: bool = False
    on_change: Callable[..., Any] | None = None
    of: Which = 0
    reapply: bool = True
    initial: bool = field(init=False)

    def __post_init__(self) -> None:
        self.value = self.initial = self.checked(self.value)

    def checked(self, value: Any) -> bool:
        """`value` as a bool."""
        return bool(value)


@dataclass
class Select(Control):
    """One of several `options`. `on_change` as for `Slider`, with the chosen option."""

    options: Sequence[Any] = ()
    value: Any = None
    on_change: Callable[..., Any] | None = None
    of: Which = 0
    reapply: bool = True
    initial: Any = field(init=False)

    def __post_init__(self) -> None:
        self.options = tuple(self.options)
        if not self.options:
            raise ValueError(f"select {self.label!r} has no options")
        first = self.options[0] if self.value is None else self.value
        self.value = self.initial = self.checked(first)

    def checked(self, value: Any) -> Any:
        """`value`, which must be one of the options. Raises ValueError where it is not."""
        if value not in self.options:
            raise ValueError(f"select {self.label!r} has no option {value!r}: {self.options}")
        return value


@dataclass
class Button(Control):
    """An action: `on_click(model, data) -> None`, `mj_forward` follows.

    Args:
      of: see `Which`; with `"all"`, `on_click(simulations)`.
      play: start playing after the action.
    """

    on_click: Callable[..., Any] | None = None
    of: Which = 0
    play: bool = False


Valued = Slider | Toggle | Select
