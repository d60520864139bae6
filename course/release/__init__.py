"""From the percent truth `source/L/L.py` to the instructor's and the student's notebooks."""
