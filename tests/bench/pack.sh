#!/usr/bin/env bash
# Packs the page that measures webq8 on a machine with a GPU and no network, as a site for any static server:
#   tests/bench/pack.sh OUT_DIR        then open OUT_DIR/gpu_page.html?parts=correctness,ceilings,linear,conv,networks
# and OUT_DIR/peers/index.html, which compares with onnxruntime-web. The pages post their findings to /result.
set -euo pipefail
out=$(mkdir -p "${1:?usage: pack.sh OUT_DIR}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
.venv/bin/webq8 site "$out"
rm -rf "$out/pyodide-314"
cp tests/bench/gpu_page.* "$out"
mkdir -p "$out/networks"
cp "$(.venv/bin/python tests/networks.py)"/* "$out/networks"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp tests/bench/gpu_page.py tests/bench/chained.py "$work"
cp -r tests/cases "$work"
mkdir "$work/data"
cp tests/data/torch_goldens.npz "$work/data" # the cases read it
rm -rf "$work/cases/__pycache__"
(cd "$work" && rm -f "$out/bench.zip" && python3 -m zipfile -c "$out/bench.zip" ./*)
.venv/bin/python tests/bench/peers.py add "$out"
