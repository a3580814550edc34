#!/bin/sh
# Installs the frameworks that Debian has, as root, and plays six nights with a service of each: sh test/zoo/debian.sh
set -eu
cd "$(dirname "$0")/../.."
packages=$(node_modules/.bin/node --input-type=module --eval "console.log((await import('./test/zoo/debian.ts')).debianPackages.join(' '))")
apt-get update
# The names are words of their own.
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $packages
npx vitest run --config test/zoo/vitest.config.ts debian
