#!/bin/sh
# Builds the wheel and the sdist, and tests both as built: each in a virtual environment of its own, without the checkout.
# Beside them it writes a bill of materials (CycloneDX) of what uv.lock says is installed with them.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf dist
"$python" -m venv "$work/build"
"$work/build/bin/pip" --quiet --disable-pip-version-check install build uv
"$work/build/bin/uv" lock --check --quiet || { echo "uv.lock is not that of pyproject.toml: run  uv lock"; exit 1; }
"$work/build/bin/python" -m build --outdir dist .
for built in dist/*.whl dist/*.tar.gz; do
  rm -rf "$work/venv" "$work/here"
  "$python" -m venv "$work/venv"
  mkdir "$work/here"
  "$work/venv/bin/pip" --quiet --disable-pip-version-check install "$built"
  (
    cd "$work/here"
    PATH="$work/venv/bin:$PATH"
    weftwork --version
    weftwork init
    mkdir notes
    printf '# Finch\n\nThe mirror ships in April.\n' > notes/finch.md
    weftwork add notes
    weftwork ask "When does the mirror ship?" | grep -q 'The mirror ships in April. \[1\]'
    weftwork context "When does the mirror ship?" --json | grep -q '"text"'
    weftwork doctor | grep -q 'all is well'
    python -c 'import importlib.metadata as m; assert {r.split()[0] for r in m.requires("weftwork")}'
  )
  echo "$built works as built"
done
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
"$work/build/bin/uv" export --frozen --no-dev --extra documents --extra server --extra postgres --quiet \
  --format cyclonedx1.5 --output-file "dist/weftwork-$version.cdx.json"
