#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: docker/base.sh DEBS NAME OUT

Makes the image NAME from the Debian packages in the folder DEBS, without network, and writes it to
OUT, which docker load and podman load read. Prints the image id: the same packages, the same id.

  SOURCE_DATE_EPOCH  the time of every file in it
TEXT
}

die() {
    printf 'base: %s\n' "$*" >&2
    exit 1
}

case $#,${1:-} in
    1,-h | 1,--help) usage && exit 0 ;;
    3,*) ;;
    *) usage >&2 && exit 2 ;;
esac
debs=$1 name=$2 out=$3
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:?} LC_ALL=C TZ=UTC
shopt -s nullglob
files=("$debs"/*.deb)
[[ ${#files[@]} != 0 ]] || die "$debs: expected Debian packages, found none; run make wheelhouse"
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/pool" "$scratch/image"

# An archive of exactly these packages: apt has nothing to choose.
packages=()
for file in "${files[@]}"; do
    ln -s "$(realpath "$file")" "$scratch/pool/"
    packages+=("$(dpkg-deb --field "$file" Package)")
    dpkg-deb --field "$file"
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' \
        "${file##*/}" "$(stat -c %s "$file")" "$(sha256sum "$file" | cut -d' ' -f1)"
done >"$scratch/pool/Packages"

# What differs between two runs or two machines: logs, caches, names of the machine, who asked for what.
cat >"$scratch/clean" <<'TEXT'
#!/bin/sh
set -e
cd "$1"
rm -rf var/log/* var/cache/* var/lib/apt var/lib/dpkg/*-old etc/apt/sources.list* tmp/*
rm -f etc/resolv.conf etc/hostname etc/machine-id var/lib/dbus/machine-id
TEXT
chmod +x "$scratch/clean"

mmdebstrap --quiet --variant=essential \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --include="$(IFS=, && echo "${packages[*]}")" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/info/*' \
    --customize-hook="$scratch/clean" \
    '' "$scratch/image/layer.tar" "deb [trusted=yes] copy:$scratch/pool ./" >&2

# docker import would put the time of day into the image, and so into its id.
cd "$scratch/image"
layer=$(sha256sum layer.tar | cut -d' ' -f1)
created=$(date --utc --date "@$SOURCE_DATE_EPOCH" +%FT%TZ)
architecture=$(dpkg-deb --field "$scratch"/pool/libc6_*.deb Architecture)
printf '{"architecture":"%s","config":{"Cmd":["bash"],"Env":["PATH=%s"]},"created":"%s",%s,%s}' \
    "$architecture" /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$created" \
    "\"history\":[{\"created\":\"$created\",\"created_by\":\"docker/base.sh\"}],\"os\":\"linux\"" \
    "\"rootfs\":{\"diff_ids\":[\"sha256:$layer\"],\"type\":\"layers\"}" >config.json
id=$(sha256sum config.json | cut -d' ' -f1)
mv config.json "$id.json"
printf '[{"Config":"%s.json","Layers":["layer.tar"],"RepoTags":["%s"]}]' "$id" "$name" >manifest.json
cd - >/dev/null
tar --create --file "$out.new" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
    --numeric-owner --directory "$scratch/image" .
mv "$out.new" "$out"
echo "sha256:$id"
