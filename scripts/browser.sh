#!/bin/sh
# A browser for the tests of the inspector: any Chromium that is there already, or else Debian's package where this user
# may install one. Never an error: without a browser those tests are skipped, and say what to install.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "no Chromium on the PATH: the tests of the inspector will be skipped"
    exit 0
fi
echo "installing Chromium for the tests of the inspector …"
export DEBIAN_FRONTEND=noninteractive
get() { apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" >/dev/null 2>&1; }
install() { get install --yes --no-install-recommends chromium fonts-liberation; }
install || { get update && install; } || echo "Chromium could not be installed: the tests of the inspector will be skipped"
