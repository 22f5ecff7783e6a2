"""Exact Pareto fronts of recourse summaries for any tabular classifier.

A classifier turns people down. What could they change to be accepted, and what would that cost them? `Sogar`
finds every summary that no other summary beats on both mean cost and the share of people for whom it works. A
summary is a small decision tree with one recommended set of changes at each leaf.
"""

from __future__ import annotations

from . import datasets
from ._errors import (
    ArgumentError,
    AuditFailedError,
    CheckpointError,
    ConfigError,
    DataError,
    EvaluationFailedError,
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
from ._explanation import Explanation
from ._frames import Audit, Counterfactuals
from ._init import init_config
from ._matrix import MatrixFront, MatrixLeaf, MatrixPoint, MatrixSplit, read_problem, solve_matrix
from ._native import __version__
from ._plots import plot_disparity, plot_fairness, plot_front, plot_tree
from ._studio import Studio, studio
from ._summary import Summary

__all__ = [
    "ArgumentError",
    "Audit",
    "AuditFailedError",
    "CheckpointError",
    "ConfigError",
    "Counterfactuals",
    "DataError",
    "EvaluationFailedError",
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
    "Studio",
    "Summary",
    "TooLargeError",
    "__version__",
    "datasets",
    "init_config",
    "plot_disparity",
    "plot_fairness",
    "plot_front",
    "plot_tree",
    "read_problem",
    "solve_matrix",
    "studio",
]
