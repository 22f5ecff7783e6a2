"""The interactive report inside of a notebook."""

from __future__ import annotations

import html
import tempfile
from pathlib import Path
from typing import Any


class ReportView:
    """A report for notebooks: a sandboxed frame around the page of `Sogar.report`.

    The frame may run the page's own script and download files, nothing else: no network, no access to the
    notebook. Without scripts it shows the same figures as a static document.
    """

    def __init__(self, estimator: Any, groups: Any, height: int, options: dict[str, Any]) -> None:
        """Writes the report once; later views of the same object reuse it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.html"
            estimator.report(path, groups=groups, **options)
            self.page = path.read_text(encoding="utf-8")
        self._height = int(height)
        self._text = str(estimator.summary_)

    def __repr__(self) -> str:
        """The current summary, where nothing can be drawn."""
        return self._text

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="Recourse report" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self._height}px;border:1px solid #ccc" '
            f'srcdoc="{html.escape(self.page, quote=True)}"></iframe>'
        )
