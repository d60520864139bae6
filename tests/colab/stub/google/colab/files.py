"""A download: the file arrives in the browser's folder."""

import os
import shutil


def download(filename):
    shutil.copy(filename, os.environ["COLAB_DOWNLOADS"])
