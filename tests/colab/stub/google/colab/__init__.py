"""Stands in for Colab's own module: what a notebook can see of it, and nothing behind it."""
