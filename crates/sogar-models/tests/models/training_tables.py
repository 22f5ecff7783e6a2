"""Tables that the makers of models share."""

import numpy as np
import pandas as pd


def numbers(rng, n):
    """Numeric columns of several tempers: continuous, whole, mostly zero, tiny."""
    return pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n),
            "age": rng.integers(18, 90, n).astype(float),
            "gain": np.where(rng.random(n) < 0.7, 0.0, rng.normal(0, 5, n)),
            "rate": rng.normal(0, 1, n) * 1e-3,
        }
    )


def target(rng, frame, classes=2):
    """Classes of equal size by a noisy sum of the columns."""
    signal = np.log(frame["income"]) - 10 + (frame["age"] - 50) / 40 + 400 * frame["rate"].fillna(0)
    signal = signal + rng.normal(0, 0.5, len(frame))
    return np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))


def with_holes(rng, frame, share=0.15):
    """The frame with missing values."""
    return frame.mask(rng.random(frame.shape) < share)


def as_numbers(frame):
    """The model's inputs: category codes for pandas categoricals, NaN for the missing one."""
    codes = {
        n: c.cat.codes.replace(-1, np.nan).astype(float) if c.dtype == "category" else c
        for n, c in frame.items()
    }
    return pd.DataFrame(codes).to_numpy(dtype=float)


def lines(block):
    """One text per row, with all digits."""
    return [" ".join(repr(float(value)) for value in row) for row in block]
