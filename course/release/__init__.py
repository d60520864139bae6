"""From the percent truth `source/L/L.py` to the notebooks: `source/L/L.ipynb` and `release/L/L.ipynb`."""
