#!/usr/bin/env bash
# Runs every fuzz target (or those that are named) for SECONDS_EACH, seeded with the files that the line `// seeds:` of its source names.
set -euo pipefail
cd "$(dirname "$0")/.."

# cargo-fuzz is installed beside the build's own files, where it is missing.
tools="${CARGO_TARGET_DIR:-target}/tools"
export PATH="$PWD/$tools/bin:$PATH"
if ! cargo fuzz --version >/dev/null 2>&1; then
    printf '\n== installing cargo-fuzz in %s\n' "$tools"
    if ! cargo install --quiet --locked --root "$tools" cargo-fuzz; then
        printf '\nNOTHING WAS FUZZED: cargo-fuzz could not be installed.\n\n'
        exit 0
    fi
fi

# The sanitizer's flags are unstable; the stable compiler has them, too.
export RUSTC_BOOTSTRAP=1
each="${SECONDS_EACH:-60}"
targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
    mapfile -t targets < <(cargo fuzz list)
fi
for target in "${targets[@]}"; do
    corpus="fuzz/corpus/$target"
    mkdir -p "$corpus"
    seeds="$(sed -n 's,^// seeds: ,,p' "fuzz/fuzz_targets/$target.rs")"
    for seed in $seeds; do
        if [[ -f "$seed" ]]; then cp "$seed" "$corpus/"; fi
    done
    printf '\n== fuzzing %s for %s s, %s seeds\n' "$target" "$each" "$(find "$corpus" -type f | wc -l)"
    cargo fuzz run "$target" -- -max_total_time="$each" -rss_limit_mb=1024 -malloc_limit_mb=256 -timeout=20 \
        -max_len=65536 -print_final_stats=1 -verbosity=0
done
