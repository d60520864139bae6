"""The call by which Colab hands over the notebook as its page shows it now."""

import json
import os
from pathlib import Path


def blocking_request(request_type, request="", timeout_sec=5, parent=None):
    assert request_type == "get_ipynb"
    return {"ipynb": json.loads(Path(os.environ["COLAB_NOTEBOOK"]).read_text())}
