"""Writes LightGBM's JSON dumps of some models beside this file, which `make_lightgbm.py` made.

python make_lightgbm_dumps.py    # needs lightgbm 4; writes into `dumps`
"""

import json
import pathlib

import lightgbm as lgb

FOLDER = pathlib.Path(__file__).parent
MODELS = ["around_zero", "categories", "cross_entropy", "forest_multiclass", "missing_zero", "one_vs_all"]
MODELS += ["single_leaves", "spaced_names", "version_3"]


def main():
    """Writes every dump."""
    (FOLDER / "dumps").mkdir(exist_ok=True)
    for name in MODELS:
        dump = lgb.Booster(model_file=str(FOLDER / f"{name}.txt")).dump_model()
        del dump["feature_importances"]
        (FOLDER / "dumps" / f"{name}.json").write_text(json.dumps(dump, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
