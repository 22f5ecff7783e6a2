#!/usr/bin/env bash
# Cargo calls this instead of rustc for the crates of the workspace (RUSTC_WORKSPACE_WRAPPER): rustc compiles as usual, and beside it Clippy checks the same
# crate against the libraries that are compiled anyway. `cargo clippy` would check all dependencies first, which takes minutes on a clean clone.
# Clippy's driver can compile as well, but without optimising MIR and without the checks of null and misaligned pointers: it compiles programs and tests
# without unsafe code. The Makefile sets CLIPPY_ARGS.
set -uo pipefail

# A library with unit tests is compiled twice, and Clippy sees all of it the second time. The first time rustc refuses its own warnings, such as unused
# code, which tests would hide.
if [[ " $* " == *" --crate-type lib "* && " $* " != *" --print="* ]] && ! grep -q '^test = false' "$CARGO_MANIFEST_DIR/Cargo.toml"; then
    exec "$@" -D warnings
fi

# A program or a test without unsafe code. Integration tests are a crate of their own, below tests/.
of=src
[[ " $*" == *[\ /]tests/*.rs\ * ]] && of=tests
if [[ (" $* " == *" --test "* || " $* " == *" --crate-type bin "*) && " $* " != *" --print="* ]] && ! grep -rqw unsafe --include='*.rs' "$CARGO_MANIFEST_DIR/$of"; then
    exec clippy-driver "$@"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
lint=()
before=
for argument in "${@:2}"; do
    case "$before$argument" in
        # A question about the compiler.
        -vV | --print=*)
            rm -rf "$scratch"
            exec "$@"
            ;;
        --emit=*) lint+=(--emit=metadata) ;;
        # Cargo must not take what Clippy writes for the library.
        --json=*) lint+=("${argument//,artifacts/}") ;;
        incremental=*) lint+=(codegen-units=16) ;;
        --out-dir*/*) lint+=("$scratch") ;;
        *) lint+=("$argument") ;;
    esac
    before=
    if [[ $argument == --out-dir ]]; then
        before=$argument
    fi
done

clippy-driver "$1" "${lint[@]}" 2>"$scratch/said" &
"$@"
compiled=$?
wait $!
linted=$?
if [[ $compiled == 0 && $linted != 0 ]]; then
    cat "$scratch/said" >&2
    exit "$linted"
fi
exit "$compiled"
