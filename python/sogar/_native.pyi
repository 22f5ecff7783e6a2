"""The engine, as `src/` gives it to Python. Long work runs without the lock and ends on Ctrl-C."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NotRequired, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AuditLeader",
    "Explanation",
    "Front",
    "FrontMerger",
    "Model",
    "OutcomeTask",
    "Problem",
    "Studio",
    "Table",
    "WorkerSearch",
    "__version__",
    "audit",
    "audit_part",
    "bias_audit",
    "cheapest_block",
    "check_config",
    "counterfactuals",
    "evaluate_part",
    "evaluation_of",
    "everybody_block",
    "explain",
    "flips_of",
    "gathered",
    "guaranteed",
    "init_config",
    "is_gap",
    "is_parquet",
    "judge_evaluation",
    "neighbours",
    "outcome_task",
    "outcomes_block",
    "outcomes_identity",
    "preset",
    "problem_skeleton",
    "reach_block",
    "reach_part",
    "read_config",
    "report",
    "select_by_gap",
    "solve_matrix",
    "visible",
    "weights_of",
]
__version__: str

_Progress = Callable[[str, int, int, str], object]

@final
class Table:
    @staticmethod
    def read(path: str, config: str) -> Table: ...
    @staticmethod
    def from_arrow(data: Any, config: str, origin: str) -> Table: ...
    @staticmethod
    def from_columns(names: list[str], columns: list[Any], config: str, origin: str) -> Table: ...
    def columns(self) -> dict[str, NDArray[np.float64] | list[str | None]]: ...
    def state(self) -> tuple[Any, ...]: ...
    @staticmethod
    def from_state(path: str, digest: str, rows: int, columns: list[tuple[Any, ...]]) -> Table: ...
    @property
    def rows(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def hash(self) -> str: ...
    @property
    def path(self) -> str: ...
    def __len__(self) -> int: ...

@final
class Model:
    @staticmethod
    def load(path: str, threshold: float | None = None) -> Model: ...
    @staticmethod
    def from_bytes(data: bytes, name: str, threshold: float | None = None) -> Model: ...
    @staticmethod
    def from_function(
        function: Callable[[NDArray[np.float64]], NDArray[Any]],
        table: Table,
        config: str,
        *,
        answers: Literal["labels", "scores"] | str,
        classes: int,
        threshold: float | None,
        batch: int,
        identity: bytes,
        name: str,
        description: str = ...,
    ) -> Model: ...
    def with_also(self, also: list[Model]) -> Model: ...
    def with_plausibility(self, measure: Model) -> Model: ...
    @staticmethod
    def from_trees(spec: dict[str, Any]) -> Model: ...
    @staticmethod
    def from_layers(spec: dict[str, Any]) -> Model: ...
    def predict(self, table: Table, config: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def contributions(self, rows: NDArray[np.float64], output: int = 0) -> NDArray[np.float64]: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def path(self) -> str: ...

class _Settings(TypedDict):
    config: str
    folder: NotRequired[str]
    cost: NotRequired[Callable[[dict[str, Any], dict[str, Any]], float] | None]
    outcomes_cache: NotRequired[str | None]
    checkpoint: NotRequired[str | None]
    checkpoint_limit: NotRequired[str | None]
    verify_cache: NotRequired[int | None]

@final
class Problem:
    def __new__(cls, table: Table, model: Model, settings: _Settings) -> Problem: ...
    @staticmethod
    def of_file(path: str, model: Model, settings: _Settings) -> Problem: ...
    @staticmethod
    def of_partitions(partitions: Any, count: int, model: Model, settings: _Settings) -> Problem: ...
    def everybody(self) -> Problem: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def notices(self) -> list[str]: ...
    def warnings(self, configured: bool) -> list[str]: ...
    @property
    def long_run(self) -> str | None: ...
    @property
    def sizes(self) -> dict[str, int]: ...
    @property
    def hashes(self) -> dict[str, str]: ...
    @property
    def features(self) -> str: ...
    def solve(self, progress: _Progress | None = None) -> tuple[Front, list[str], BaseException | None]: ...
    def evaluate(self, front: Front, table: Table) -> tuple[list[str], str]: ...
    def assign(self, front: Front, point: int, table: Table) -> NDArray[np.int64]: ...
    def edited(
        self, front: Front, point: int, table: Table
    ) -> list[tuple[str, NDArray[np.int64], NDArray[np.float64] | list[str | None]]]: ...

@final
class OutcomeTask:
    def __new__(cls, task: bytes, model: Model) -> OutcomeTask: ...
    def of_block(self, start: int, stop: int) -> tuple[bytes, int]: ...
    def on_everybody(self, start: int, stop: int, ids: list[int]) -> tuple[bytes, int]: ...

@final
class WorkerSearch:
    def __new__(cls, skeleton: bytes, blocks: list[bytes], threads: int, memory: int) -> WorkerSearch: ...
    def root(self) -> tuple[bytes, int]: ...
    def leaves(self, start: int, stop: int, part: int, of: int) -> bytes: ...
    def learn(self, leaves: bytes) -> None: ...
    def cuts(self, start: int, stop: int) -> list[bytes]: ...
    def cancel(self) -> None: ...

@final
class FrontMerger:
    def __new__(cls, skeleton: bytes, root: bytes) -> FrontMerger: ...
    def add(self, cut: bytes) -> int: ...
    def finish(self) -> list[int]: ...

def is_parquet(path: str) -> bool: ...
def outcomes_identity(problem: Problem) -> str: ...
def outcome_task(problem: Problem) -> bytes: ...
def problem_skeleton(problem: Problem) -> bytes: ...
def outcomes_block(problem: Problem, start: int, stop: int) -> tuple[bytes, int]: ...
def everybody_block(problem: Problem, start: int, stop: int, ids: list[int]) -> tuple[bytes, int]: ...
def cheapest_block(skeleton: bytes, block: bytes, start: int, stop: int) -> bytes: ...
def gathered(
    problem: Problem,
    merger: FrontMerger | None,
    ids: list[int],
    flips: list[bytes],
    *,
    settled: int,
    status: str,
    seconds_outcomes: float,
    seconds_search: float,
    cheapest: list[bytes] | None = None,
) -> Front: ...
def evaluate_part(
    problem: Problem, front: Front, table: Table, unit: int | None = None
) -> tuple[int, int, int, list[list[int]]]: ...
def flips_of(skeleton: bytes, blocks: list[bytes], ids: list[int]) -> bytes: ...
def weights_of(table: Table, column: str) -> tuple[int, int]: ...
def evaluation_of(
    front: Front,
    rows: int,
    affected: int,
    people: int,
    sums: list[list[int]],
    weight: tuple[str, int, int] | None = None,
) -> str: ...

@final
class AuditLeader:
    def __new__(
        cls,
        problem: Problem,
        front: Front,
        groups: list[str],
        *,
        columns: Table | None = None,
        label: str | None = None,
        conditions: list[str] = ...,
        draws: int | None = None,
        min_group: int | None = None,
        unreachable: bool | None = None,
    ) -> AuditLeader: ...
    def columns(self) -> list[str]: ...
    def see(self, table: Table, more: Table | None = None) -> None: ...
    def places(self, start: int, stop: int) -> bytes: ...
    def add(self, rows: int, part: bytes) -> None: ...
    def is_searched(self) -> bool: ...
    def add_reach(self, part: bytes) -> None: ...
    def add_reference(self, people: int, block: bytes) -> None: ...
    @property
    def searches_reference(self) -> bool: ...
    def finish(
        self,
        holdout: Table | None = None,
        holdout_columns: Table | None = None,
        *,
        progress: _Progress | None = None,
    ) -> tuple[str, str]: ...

def audit_part(problem: Problem, front: Front, table: Table, places: bytes) -> bytes: ...
def reach_part(problem: Problem, table: Table) -> bytes: ...
def reach_block(problem: Problem, start: int, stop: int) -> bytes: ...

@final
class Front:
    @staticmethod
    def from_bytes(data: bytes) -> Front: ...
    @staticmethod
    def read(path: str) -> Front: ...
    def to_bytes(self) -> bytes: ...
    def write(self, path: str) -> None: ...
    def about(self) -> str: ...
    def actions(self) -> str: ...
    def points(self) -> dict[str, NDArray[Any]]: ...
    @property
    def status(self) -> str: ...
    @property
    def certified_gap(self) -> float | None: ...
    def affected_rows(self) -> NDArray[np.bool_]: ...
    def flips(self, action: int) -> NDArray[np.bool_]: ...
    def select(self, by: str) -> int: ...
    def summary(self, point: int) -> str: ...
    def tree_json(self, point: int) -> str: ...
    def tree_text(self, point: int) -> str: ...
    def plausibility_text(self, point: int) -> str: ...
    def held_out_text(self, point: int) -> str: ...
    def rules_text(self, point: int) -> str: ...
    def dot(self, point: int) -> str: ...
    def __len__(self) -> int: ...

@final
class Explanation:
    def json(self) -> str: ...
    def sections(self) -> list[tuple[str, str]]: ...
    def letter(
        self,
        path: str | None,
        fields: list[tuple[str, str]],
        language: str | None = None,
        messages: str | None = None,
    ) -> tuple[str, list[str]]: ...

_Scan = tuple[list[str], int | None, str | None, int | None, int | None]

def audit(
    problem: Problem,
    front: Front,
    groups: list[str],
    *,
    columns: Table | None = None,
    label: str | None = None,
    holdout: Table | None = None,
    holdout_columns: Table | None = None,
    conditions: list[str] = ...,
    draws: int | None = None,
    min_group: int | None = None,
    unreachable: bool | None = None,
    measures: list[str] = ...,
    scan: _Scan | None = None,
    progress: _Progress | None = None,
) -> tuple[str, str]: ...
def bias_audit(
    problem: Problem,
    front: Front,
    groups: list[str],
    *,
    columns: Table | None = None,
    holdout: Table | None = None,
    holdout_columns: Table | None = None,
    scoring: bool = False,
    source: str | None = None,
    in_use_since: str | None = None,
) -> tuple[str, str]: ...
def guaranteed(
    problem: Problem,
    front: Front,
    calibration: Table,
    guarantee: str,
    confidence: float,
    groups: list[str],
    *,
    columns: Table | None = None,
    calibration_columns: Table | None = None,
) -> tuple[int, str, list[str]]: ...
def judge_evaluation(front: Front, evaluation: str, conditions: list[str], point: int) -> str: ...
def is_gap(by: str) -> bool: ...
def select_by_gap(problem: Problem, front: Front, by: str, *, min_group: int | None = None) -> int: ...
def explain(
    problem: Problem,
    front: Front,
    point: int,
    *,
    row: int | None = None,
    person: str | None = None,
    reasons: int | None = None,
    codes: str | None = None,
) -> Explanation: ...
def counterfactuals(
    problem: Problem,
    front: Front,
    ways: int,
    *,
    rows: list[int] | None = None,
    people: list[str] | None = None,
    progress: _Progress | None = None,
) -> str: ...
def neighbours(problem: Problem, front: Front, point: int, count: int) -> str: ...
def report(
    front: Front,
    problem: Problem | None,
    path: str,
    *,
    groups: list[str],
    by: list[str],
    columns: Table | None = None,
    label: str | None = None,
    holdout: Table | None = None,
    holdout_columns: Table | None = None,
    title: str | None = None,
    min_n: int | None = None,
    include_rows: bool = False,
    unreachable: bool | None = None,
    draws: int | None = None,
    scan: _Scan | None = None,
    kind: str = "interactive",
    progress: _Progress | None = None,
) -> tuple[int, list[str]]: ...

@final
class Studio:
    @property
    def address(self) -> str: ...
    @property
    def running(self) -> bool: ...
    def __new__(
        cls,
        table: Table,
        model: Model,
        *,
        config: str | None = None,
        folder: str = ...,
        classes: list[str] = ...,
    ) -> Studio: ...
    def wait(self) -> None: ...
    def close(self) -> None: ...
    def open(self) -> None: ...

def init_config(table: Table, name: str, model: Model | None = None, classes: list[str] = ...) -> str: ...
def read_config(path: str) -> str: ...
def visible(text: str) -> str: ...
def preset(name: str) -> str: ...
def check_config(config: str) -> str: ...
def solve_matrix(
    splits: NDArray[np.bool_],
    costs: NDArray[np.uint32],
    flips: NDArray[np.bool_],
    actions: NDArray[np.int64] | None = None,
    summed: bool = False,
    *,
    max_depth: int,
    max_leaves: int,
    min_leaf: int,
    time_limit: float | None,
    threads: int,
    weights: Sequence[int] | None = None,
    progress: _Progress | None = None,
) -> tuple[
    str,
    NDArray[np.integer[Any]],
    NDArray[np.integer[Any]],
    Sequence[Any],
    list[tuple[int, int]],
    BaseException | None,
]: ...
