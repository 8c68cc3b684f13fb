#!/usr/bin/env bash
# Runs a command on an empty machine: Debian's base system with Git, Node and npm, and nothing else.
#
#   empty-machine.sh CHECKOUT ordinary|root 'DEBIAN-PACKAGE …' 'COMMAND'
#
# The command runs in the home directory, beside `origin.git`, a bare clone of CHECKOUT. It is run by an ordinary user
# or by root. Its exit code is the script's. The machine is a directory that the command sees as its root directory,
# in namespaces of its own; the network is the host's, because npm needs a registry.
#
# It needs root and debootstrap. The base system is made once, in $GRANGE_EMPTY_MACHINE.
set -euo pipefail
checkout=$(realpath "$1") user=$2 packages=$3 command=$4
base=${GRANGE_EMPTY_MACHINE:-${TMPDIR:-/tmp}/grange-empty-machine}

make_base() {
  rm -rf "$base"
  mkdir -p "$base"
  debootstrap --variant=minbase --include=git,ca-certificates,procps bookworm "$base" >"$base.log" 2>&1 ||
    { tail -n 5 "$base.log" >&2; exit 2; }
  cp "$(command -v node)" "$base/usr/bin/node"
  local npm
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  mkdir -p "$base/usr/lib/node_modules"
  cp -a "$npm" "$base/usr/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$base/usr/bin/npx"
  useradd --root "$base" --create-home --uid 1000 somebody
  # How the host reaches its package registries: names, certificate authorities, settings of npm and apt.
  local file
  for file in /etc/hosts /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt /etc/npmrc "$(npm config get globalconfig)"; do
    if [ -e "$file" ]; then install -D -m 644 "$(readlink -f "$file")" "$base$file"; fi
  done
  for file in /etc/apt/apt.conf.d /etc/apt/sources.list.d; do
    if [ -d "$file" ]; then cp -aL "$file/." "$base$file/"; fi
  done
  if [ -e ~/.npmrc ]; then
    install -m 600 ~/.npmrc "$base/root/.npmrc"
    install -m 600 -o 1000 -g 1000 ~/.npmrc "$base/home/somebody/.npmrc"
  fi
  touch "$base/.made"
}

[ -e "$base/.made" ] || make_base
root=$(mktemp -d "${TMPDIR:-/tmp}/grange-machine.XXXXXX")
trap 'rm -rf "$root"' EXIT
cp -a --reflink=auto "$base/." "$root/"
if [ "$user" = root ]; then home=/root id=0; else home=/home/somebody id=1000; fi
git clone -q --bare "$checkout" "$root$home/origin.git"
# A checkout's HEAD may be on any branch, or on none.
git --git-dir="$root$home/origin.git" update-ref --no-deref HEAD "$(git -C "$checkout" rev-parse HEAD)"
chown -R "$id:$id" "$root$home/origin.git"

export root packages command home id user
unshare --mount --pid --fork --kill-child --propagation private bash -euc '
  mount --bind "$root" "$root"
  cd "$root"
  mkdir -p .host
  pivot_root . .host
  mount -t proc proc /proc
  mount --rbind /.host/dev /dev
  mount --rbind /.host/sys /sys
  mount -t tmpfs tmpfs /run
  mount -t tmpfs -o mode=1777 tmpfs /tmp
  umount -l /.host
  export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
  if [ -n "$packages" ]; then
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
  fi
  cd "$home"
  exec setpriv --reuid="$id" --regid="$id" --clear-groups env -i HOME="$home" LANG=C.UTF-8 \
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
    NODE_EXTRA_CA_CERTS="$SSL_CERT_FILE" SSL_CERT_FILE="$SSL_CERT_FILE" bash -c "$command"'
