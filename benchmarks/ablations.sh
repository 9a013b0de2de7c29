#!/usr/bin/env bash
# The papers' comparisons repeated on `fashion`, at equal cost where they are between rules: benchmarks/ablations.sh [DIR]
# Every line is a plain command that can be run alone; about 25 minutes on one core each for the two longest.
set -euo pipefail
out="${1:-results/ablations}"
shared=(--model fashion --images "${IMAGES:-600}" --seeds "${SEEDS:-0 1 2}" --json)
tuned=("${shared[@]}" --pilot "${PILOT:-200}")
mkdir -p "$out"

# What `--json` prints is kept as it is; the picture and the table come with `--out DIR` instead.
run() { local name="$1"; shift; echo "$name: specsim compare $*" >&2; specsim compare "$@" > "$out/$name.json.part"; mv "$out/$name.json.part" "$out/$name.json"; }

for level in 2.8 3.4; do
    # COOL-SD: is annealed better than uniform lenience at the same tokens per call?
    run "annealed_$level" "Lenient()" "Annealed(nu=0.7)" "Annealed(nu=3.0)" \
        --decoder "Chain(lookahead=4)" --at-tokens-per-call "$level" "${tuned[@]}"
done
# COOL-SD: the optimal residual inside LANTERN++ and LANTERN.  Their acceptance is the same, so nothing is retuned.
run optimal_residual "LanternPlus(k=10, lam=5)" "Optimal(LanternPlus(k=10, lam=5))" \
    "Lantern(k=10, delta=0.4)" "Optimal(Lantern(k=10, delta=0.4))" --decoder "Chain(lookahead=4)" "${shared[@]}"
# CSD against Addition and Amplify, on Jacobi decoding as published.
run content_aware "ContentAware(delta=0.35)" "ContentAware(delta=0.65)" "Additive()" "Lenient()" \
    --decoder "Jacobi(window=16)" --at-tokens-per-call 2.35 "${tuned[@]}"
# GSD, its partition, and uniform lenience.
run grouped "Grouped()" "Partitioned()" "Lenient()" \
    --decoder "Jacobi(window=16)" --at-tokens-per-call 2.35 "${tuned[@]}"
# SCD against SJD: windows.
windows=()
for window in 4 8 16 32 48; do
    for continuation in independent maximal gumbel; do
        windows+=(--decoder "Jacobi(window=$window, continuation='$continuation')")
    done
done
IMAGES="${WINDOW_IMAGES:-200}" && shared[3]="$IMAGES"
run windows Strict "${windows[@]}" "${shared[@]}"
