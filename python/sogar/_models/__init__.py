"""How the engine uses a user's model.

A model object is either *read* (the engine gets its trees or layers and never calls it again) or *called* (a
callback gets blocks of rows). Reading is always verified: the engine's predictions for the table are compared
with the object's own. If they differ, the object is called instead, with a warning.

`adapt` is the entry point. It returns an `Adapted`, which knows what the object returns and builds the
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
