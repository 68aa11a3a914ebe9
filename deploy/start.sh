#!/bin/sh
# Serve in a container: make the store where there is none, and have a key, without which only the container itself is answered.
set -eu
weftwork stats >/dev/null 2>&1 || weftwork init
if [ "$(weftwork keys list --json)" = "[]" ]; then
    weftwork keys create --scope admin --name bootstrap --expires 1h --json > /dev/null
    weftwork keys list --json | python -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])' | xargs weftwork keys revoke
fi
exec weftwork serve --drain "${WEFTWORK_DRAIN:-10}" --log "${WEFTWORK_LOG:-json}"
