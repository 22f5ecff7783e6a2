"""Models as users have them: which way each one takes into the engine.

A model object is either *read* (its trees or layers are handed to the engine, which then never asks it
again) or *asked* (a callback gets blocks of rows). Reading is never trusted blindly: what the engine says
of the table is compared with what the object itself says, and a difference means that the object is asked
instead, with a warning.

`adapt` is the one way in. What it gives, an `Adapted`, knows how the object answers, and builds the
engine's model for a table:

>>> import numpy as np
>>> rows = np.array([[1.0, 5.0], [4.0, 2.0]])
>>> adapted = adapt(lambda rows: rows[:, 0] - rows[:, 1], rows, columns=["income", "debt"], threshold=0.0)
>>> adapted.model_backend
'callback: function <lambda>'
>>> adapted.labels(rows).tolist()
[0, 1]
"""

from __future__ import annotations

from ._adapt import Adapted, adapt
from ._rows import frame_of

__all__ = ["Adapted", "adapt", "frame_of"]
