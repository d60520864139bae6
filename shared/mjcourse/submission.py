"""`submit()`: look the notebook over and put the file to hand in beside it, with a receipt."""


def submit(path: str | None = None) -> None:
    """Look the notebook over and write the file to hand in."""
    raise NotImplementedError("handing in comes with the next step")
