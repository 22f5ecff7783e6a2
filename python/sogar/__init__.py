"""Exact Pareto fronts of recourse summaries for any tabular classifier.

A classifier turns people down. What could they change so that it would not, and what would that cost them?
`Sogar` finds every summary, a small decision tree with one recommended set of changes at each leaf, that no
other summary beats on both mean cost and the share of people for whom it works.
"""

from __future__ import annotations

from ._errors import (
    ArgumentError,
    CheckpointError,
    ConfigError,
    DataError,
    ModelError,
    NotFittedError,
    OutputError,
    PopulationError,
    ResultFileError,
    SogarError,
    SogarWarning,
    TooLargeError,
)
from ._estimator import Sogar
from ._init import init_config
from ._matrix import MatrixFront, MatrixLeaf, MatrixPoint, MatrixSplit, read_problem, solve_matrix
from ._native import __version__
from ._people import AuditFailedError, Explanation
from ._plots import plot_disparity, plot_front, plot_tree
from ._summary import Summary

__all__ = [
    "ArgumentError",
    "AuditFailedError",
    "CheckpointError",
    "ConfigError",
    "DataError",
    "Explanation",
    "MatrixFront",
    "MatrixLeaf",
    "MatrixPoint",
    "MatrixSplit",
    "ModelError",
    "NotFittedError",
    "OutputError",
    "PopulationError",
    "ResultFileError",
    "Sogar",
    "SogarError",
    "SogarWarning",
    "Summary",
    "TooLargeError",
    "__version__",
    "init_config",
    "plot_disparity",
    "plot_front",
    "plot_tree",
    "read_problem",
    "solve_matrix",
]
