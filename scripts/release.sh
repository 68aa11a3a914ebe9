#!/bin/sh
# release.sh VERSION: checks, builds and tags a release. It pushes and uploads nothing.
set -eu
cd "$(dirname "$0")/.."
version=$1
[ -z "$(git status --porcelain)" ] || { echo "commit first: the work tree is not clean"; exit 1; }
grep -q "^version = \"$version\"$" pyproject.toml || { echo "set  version = \"$version\"  in pyproject.toml"; exit 1; }
grep -q "^## $version$" CHANGELOG.md || { echo "write a section  ## $version  in CHANGELOG.md"; exit 1; }
git rev-parse -q --verify "refs/tags/v$version" > /dev/null && { echo "v$version is tagged already"; exit 1; }
.ci/run
scripts/build.sh
(cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS)
git tag -a "v$version" -m "Weftwork $version"
echo "v$version is tagged, and dist/ is tested as built: push the tag, and upload dist/"
