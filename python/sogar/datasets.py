"""Public data sets by name, with their licences.

The tables are those of ``sogar data fetch NAME``: in the directory that ``SOGAR_DATA`` names, otherwise in
the directory where that command stores them. The package contains no data.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._errors import ArgumentError

__all__ = ["Dataset", "load_adult", "load_attrition", "load_bank", "load_german"]


@dataclass(frozen=True)
class Dataset:
    """A table with its label.

    Attributes:
        name: Its name, as in ``sogar data list``.
        X: The features, a pandas data frame.
        y: The label, a pandas series.
        desired: The label that people hope for.
        config: The name of its preset: ``Sogar(config=...)`` accepts it.
        licence: The licence of the data.
        citation: How to cite them.
        homepage: Where they come from.
    """

    name: str
    X: Any
    y: Any
    desired: str
    config: str
    licence: str
    citation: str
    homepage: str

    @property
    def frame(self) -> Any:
        """Features and label in one data frame."""
        return self.X.assign(**{str(self.y.name): self.y})

    def __repr__(self) -> str:
        """What it is, and under which licence."""
        rows, columns = self.X.shape
        return f"<Dataset {self.name}: {rows:,} rows, {columns} features, licence {self.licence}>"


def load_german() -> Dataset:
    """German Credit: 1,000 loan applications, codes decoded (CC BY 4.0)."""
    return _loaded(
        "german",
        "german.csv",
        "credit",
        "good",
        "CC BY 4.0",
        "Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5NC77",
        "https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data",
    )


def load_bank() -> Dataset:
    """Bank Marketing: telephone calls of a Portuguese bank, the sample of 4,521 rows (CC BY 4.0)."""
    return _loaded(
        "bank",
        "bank.csv",
        "y",
        "yes",
        "CC BY 4.0",
        "Moro, S., Rita, P. and Cortez, P. (2014). Bank Marketing. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5K306",
        "https://archive.ics.uci.edu/dataset/222/bank+marketing",
    )


def load_adult() -> Dataset:
    """Adult: census income, the training half of 32,561 rows (CC BY 4.0)."""
    return _loaded(
        "adult",
        "adult_train.csv",
        "income",
        ">50K",
        "CC BY 4.0",
        "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. https://doi.org/10.24432/C5XW20",
        "https://archive.ics.uci.edu/dataset/2/adult",
    )


def load_attrition() -> Dataset:
    """IBM HR Analytics: 1,470 employees who left or stayed, fictional (DbCL 1.0)."""
    return _loaded(
        "attrition",
        "attrition.csv",
        "Attrition",
        "No",
        "DbCL 1.0",
        "Subhash, P. (2017). IBM HR Analytics Employee Attrition & Performance. Kaggle.",
        "https://www.kaggle.com/datasets/pavansubhasht/ibm-hr-analytics-attrition-dataset",
    )


def _loaded(
    name: str, file: str, label: str, desired: str, licence: str, citation: str, homepage: str
) -> Dataset:
    try:
        import pandas as pd
    except ImportError:
        raise ArgumentError("data sets are pandas data frames", "install pandas") from None
    places = [folder / file for folder in _folders()]
    source: Any = next((place for place in places if place.is_file()), None)
    if source is None:
        raise ArgumentError(
            f"the data set `{name}` is not on this machine",
            f"run `sogar data fetch {name}`, or set SOGAR_DATA to the directory that has {file}",
        )
    table = pd.read_csv(source, keep_default_na=False, na_values=[""])
    return Dataset(name, table.drop(columns=label), table[label], desired, name, licence, citation, homepage)


def _folders() -> list[Path]:
    """Where ``sogar data fetch`` stores tables, the user's own choice first; and the example of a clone."""
    named = [Path(os.environ[name]) for name in ("SOGAR_DATA", "SOGAR_CACHE") if os.environ.get(name)]
    home = Path.home()
    if sys.platform == "darwin":
        usual = home / "Library" / "Caches"
    elif sys.platform == "win32":
        usual = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    else:
        usual = Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))
    clone = Path(__file__).resolve().parents[2] / "examples" / "german"
    return [*named, usual / "sogar", clone]
