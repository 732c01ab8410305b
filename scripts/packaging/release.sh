# shellcheck shell=bash disable=SC2154
# The steps of scripts/release, which sources this and sets the options.

work=$PWD/build-release # what is unpacked and built, a folder an architecture

# ---- what is released

next_version() { sed -n 's/^project(taffrail VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

source_version() {
    local file
    file=$(mktemp)
    cmake -D source="$PWD" -D next="$(next_version)" -D given= -D out="$file" -P base/version.cmake
    sed -n 's/.*taffrail_version = "\(.*\)";/\1/p' "$file"
    rm "$file"
}

# The commit's time, that of all files in the archives; in a source archive git gave it to the files.
source_epoch() { git log -1 --format=%ct 2>/dev/null || stat -c %Y scripts/packaging/version.txt; }

describe_sources() {
    case $PWD in *[[:space:]]*) fail "pkg-config reads no path with spaces: $PWD" ;; esac
    version=$(source_version)
    name=taffrail-$version
    export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_epoch)}
    if [ -z "$repository" ]; then
        repository=$(git remote get-url origin 2>/dev/null || true)
        repository=${repository%.git}
        case $repository in https://*) ;; *) repository=https://example.com/taffrail ;; esac
    fi
}

whole() { [ "$arches" = "amd64 arm64" ]; }

files_of_release() {
    local arch
    for arch in $arches; do
        printf '%s\n' "$name-linux-$arch.tar.gz" "$name-linux-$arch.cdx.json"
    done
    printf '%s\n' "$name-source.tar.gz" "$name-chart.tgz"
    if whole; then
        [ "$image" = no ] || echo "$name-image.tar"
        printf '%s\n' taffrail.rb taffrail.yaml
    fi
    echo SHA256SUMS
}

# A tag names a section of CHANGELOG.md, by which people see what they get.
check_changelog() {
    case $version in *-*) return 0 ;; esac
    grep -qF "## $version" CHANGELOG.md || fail "CHANGELOG.md has no section \"## $version\""
}

dry_run() {
    describe_sources
    echo "version     $version"
    echo "time        $(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)"
    echo "repository  $repository"
    missing release | sed 's/^/to install  /'
    files_of_release | sed "s,^,to make     $out/,"
    check_changelog
    local template
    for template in scripts/packaging/homebrew/taffrail.rb scripts/packaging/krew/taffrail.yaml; do
        fill "$template" 0 0 0 >/dev/null
    done
}

# ---- Debian's libraries

triplet() { case $1 in amd64) echo x86_64-linux-gnu ;; arm64) echo aarch64-linux-gnu ;; esac; }

# apt with its own lists, for another architecture: nothing of the machine changes.
foreign_apt() {
    local arch=$1 state=$work/$1/apt
    shift
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    : >"$state/status"
    apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User= \
        -o Dir::State="$state" -o Dir::State::Lists="$state/lists" \
        -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
        -o APT::Update::Post-Invoke::= -o APT::Install-Recommends=false "$@"
}

# unpack ARCH: the libraries to link, as a folder; of which package each file is stands beside it.
unpack() {
    local dir=$work/$1 wanted deb owner link
    wanted="libc6-dev $(packages_of build | grep -E '^(lib|zlib).*-dev$') $(packages_of sysroot)"
    foreign_apt "$1" update
    # shellcheck disable=SC2086 # a list of words
    foreign_apt "$1" -s install $wanted | sed -n 's/^Inst //p' >"$dir/wanted.new"
    ! cmp -s "$dir/wanted.new" "$dir/wanted" || return 0
    rm -rf "$dir/sysroot" "$dir/owners" "$dir/wanted" "$dir/apt/cache/archives"
    # shellcheck disable=SC2086
    foreign_apt "$1" install --download-only -y $wanted >/dev/null
    mkdir -p "$dir/sysroot/usr"
    for link in bin sbin lib lib64; do
        mkdir "$dir/sysroot/usr/$link"
        ln -s "usr/$link" "$dir/sysroot/$link"
    done
    for deb in "$dir"/apt/cache/archives/*.deb; do
        # shellcheck disable=SC2016 # the format is dpkg-deb's
        owner=$(dpkg-deb -W --showformat '${Package}\t${Version}\t${source:Package}' "$deb")
        dpkg-deb --fsys-tarfile "$deb" | tar -x -v -C "$dir/sysroot" --keep-directory-symlink |
            sed -n "s,^\.\(/.*[^/]\)$,$owner\t\1,p" >>"$dir/owners"
    done
    rm -rf "$dir/apt/cache/archives"
    mv "$dir/wanted.new" "$dir/wanted"
}

# ---- the program

# compile ARCH TESTING TARGET...: tests find Debian's libraries in the sysroot, and are not portable.
compile() {
    local dir=$work/$1 testing=$2 arch=$1 portable=ON
    [ "$testing" = OFF ] || portable=OFF
    shift 2
    cmake -G Ninja -S . -B "$dir/build-$testing" -D TAFFRAIL_ARCH="$arch" -D TAFFRAIL_SYSROOT="$dir/sysroot" \
        -D CMAKE_TOOLCHAIN_FILE="$PWD/scripts/packaging/debian.cmake" -D TAFFRAIL_PORTABLE=$portable \
        -D CMAKE_BUILD_TYPE=Release -D CMAKE_COMPILE_WARNING_AS_ERROR=ON \
        -D BUILD_TESTING="$testing" -D TAFFRAIL_VERSION="$version" \
        -D CMAKE_CROSSCOMPILING_EMULATOR="$(emulator "$arch" | tr ' ' ';')" >"$dir/cmake.log" ||
        { cat "$dir/cmake.log" >&2 && return 1; }
    cmake --build "$dir/build-$testing" --target "$@" -- --quiet -j "$(nproc)"
}

# emulator ARCH: the words before a command that run a program of that architecture here.
emulator() {
    [ "$1" = "$(dpkg --print-architecture)" ] || echo "qemu-aarch64-static -L $work/$1/sysroot"
}

# The libraries in the sysroot that a program needs, and that these need; the C library's own aside.
shared_libraries() {
    local libraries=$2 seen=" " queue=("$1") library
    while [ "${#queue[@]}" -gt 0 ]; do
        for library in $(readelf -d "${queue[0]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
            case $library in ld-linux-* | lib[cm].so.* | libresolv.so.*) continue ;; esac
            case $seen in *" $library "*) continue ;; esac
            seen="$seen$library "
            queue+=("$libraries/$library")
            echo "$libraries/$library"
        done
        queue=("${queue[@]:1}")
    done
}

# Debian 12 has glibc 2.36, Amazon Linux 2023, RHEL 9 and Ubuntu 22.04 have 2.34 or 2.35.
glibc_max=2.34

# The newest glibc that a program or library wants.
glibc_of() {
    readelf -V "$1" | grep -o 'Name: GLIBC_[0-9.]*' | sed 's/.*_//' | sort -uV | tail -n 1
}

# stage ARCH: the folder that becomes the archive.
stage() {
    local dir=$work/$1 tool libraries file
    tool=$(triplet "$1")
    libraries=$dir/sysroot/usr/lib/$tool
    staged=$dir/stage/$name-linux-$1
    rm -rf "$dir/stage"
    mkdir -p "$staged/lib" "$staged/completions" "$staged/policies"
    "$tool-strip" -o "$staged/taffrail" "$dir/build-OFF/taffrail"
    local shared image_only
    mapfile -t shared < <(shared_libraries "$staged/taffrail" "$libraries")
    for file in "${shared[@]}"; do
        cp "$(readlink -f "$file")" "$staged/lib/${file##*/}"
        chmod 644 "$staged/lib/${file##*/}"
    done
    for file in "$staged/taffrail" "$staged"/lib/*; do
        [ "$(printf '%s\n' "$(glibc_of "$file")" $glibc_max | sort -V | tail -n 1)" = $glibc_max ] ||
            fail "${file##*/} wants glibc $(glibc_of "$file"), newer than $glibc_max"
    done
    # gcc gives the linker the program, once it is optimised as a whole, in parts that are files for that moment.
    ! grep '^LOAD /' "$dir/build-OFF/taffrail.map" |
        grep -vE " ($dir/sysroot|/usr/lib/gcc(-cross)?/$tool)/|\.ltrans[0-9]*\.ltrans\.o$" ||
        fail "$1: linked with libraries of this machine"
    cp LICENSE "$staged/"
    cp manifests/policies/*.yaml "$staged/policies/"
    cp scripts/packaging/kubectl_complete-taffrail "$staged/"
    local run shell
    read -r -a run <<<"$(emulator "$1") $staged/taffrail"
    for shell in bash zsh fish; do "${run[@]}" completion $shell >"$staged/completions/taffrail.$shell"; done
    mv "$staged/completions/taffrail.zsh" "$staged/completions/_taffrail" # the name that zsh looks for
    mkdir "$staged/man"
    "${run[@]}" __manual "$staged/man"
    mapfile -t image_only < <(image_libraries "$1")
    scripts/packaging/sbom.py --name taffrail --version "$version" --arch "$1" --epoch "$SOURCE_DATE_EPOCH" \
        --map "$dir/build-OFF/taffrail.map" --owners "$dir/owners" --sysroot "$dir/sysroot" \
        --copyrights "$staged/licenses" --out "$out/$name-linux-$1.cdx.json" \
        --shared "${shared[@]}" --image "${image_only[@]}"
}

# archive FOLDER FILE: the same bytes wherever, whenever and by whom it is made.
archive() {
    tar -C "$(dirname "$1")" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
        --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -c "$(basename "$1")" |
        gzip -n -9 >"$2"
    ! tar -tvzf "$2" | grep -v '^[-d]' >&2 || fail "$2: krew reads no links"
}

# says STATUS TEXT COMMAND...: the command exits with this status and prints this.
says() {
    local wanted=$1 text=$2 answer status=0
    shift 2
    answer=$("$@" 2>&1) || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -qF -- "$text" <<<"$answer"; then
        fail "$* ended with $status and said: $answer"
    fi
}

# try ARCH: the released program does on the demo's files what it should.
try() {
    local run
    read -r -a run <<<"$(emulator "$1") $staged/taffrail"
    says 0 "taffrail $version" "${run[@]}" version
    says 1 "deny topology-keys" "${run[@]}" check -p manifests/policies/demo.yaml \
        --state manifests/demo/cluster -f manifests/demo/requests/checkout.yaml
    says 1 "TO BUY" "${run[@]}" plan --state manifests/demo/cluster -f manifests/demo/requests/shop.yaml
    says 0 "passed" "${run[@]}" test manifests/policies/tests
    echo "$1: version, check, plan and test do what they should"
}

unit_tests() {
    need release
    describe_sources
    unpack "$arches"
    compile "$arches" ON all
    ctest --test-dir "$work/$arches/build-ON" -R '^unit\.' -E '\.kept$' --output-on-failure -j "$(nproc)"
}

# ---- the image

# What the archive leaves to the machine, and an image of nothing else must have.
image_libraries() {
    local folder
    folder=$work/$1/sysroot/usr/lib/$(triplet "$1")
    printf '%s\n' "$folder"/ld-linux-*.so.? "$folder"/lib{c.so.6,m.so.6,resolv.so.2}
}

build_ah() { buildah --storage-driver vfs --root "$work/image/root" --runroot "$work/image/run" "$@"; }

# image_root ARCH FOLDER: the files of the image.
image_root() {
    local file loader
    mkdir -p "$2/opt/taffrail/lib" "$2/etc"
    staged=$work/$1/stage/$name-linux-$1
    cp "$staged/taffrail" "$2/opt/taffrail/"
    cp "$staged"/lib/* "$2/opt/taffrail/lib/"
    cp -r "$staged/licenses" LICENSE "$2/opt/taffrail/"
    for file in $(image_libraries "$1"); do
        case ${file##*/} in
        ld-linux-*)
            # Where the program looks for it.
            loader=$(readelf -l "$staged/taffrail" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
            mkdir -p "$2$(dirname "$loader")"
            cp "$(readlink -f "$file")" "$2$loader"
            ;;
        *) cp "$(readlink -f "$file")" "$2/opt/taffrail/lib/${file##*/}" ;;
        esac
    done
    # Without it DNS would be asked before /etc/hosts, which Kubernetes writes hostAliases into.
    echo "hosts: files dns" >"$2/etc/nsswitch.conf"
    chmod -R u=rwX,go=rX "$2"
}

make_image() {
    local arch container
    rm -rf "$work/image"
    mkdir -p "$work/image"
    echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$work/image/policy.json"
    build_ah manifest create "taffrail:$version" >/dev/null
    for arch in $arches; do
        image_root "$arch" "$work/image/$arch"
        container=$(build_ah from --arch "$arch" scratch)
        build_ah copy --quiet --chown 0:0 "$container" "$work/image/$arch" / >/dev/null
        build_ah config --arch "$arch" --os linux --user 65532:65532 \
            --entrypoint '["/opt/taffrail/taffrail"]' --env PATH=/opt/taffrail \
            --label org.opencontainers.image.title=taffrail \
            --label org.opencontainers.image.version="$version" \
            --label org.opencontainers.image.source="$repository" \
            --label org.opencontainers.image.licenses=Apache-2.0 "$container"
        build_ah commit --quiet --signature-policy "$work/image/policy.json" --format oci \
            --timestamp "$SOURCE_DATE_EPOCH" --manifest "taffrail:$version" "$container" >/dev/null
        build_ah rm "$container" >/dev/null
    done
    build_ah manifest push --quiet --all --signature-policy "$work/image/policy.json" \
        "taffrail:$version" "oci:$work/image/layout:$version" >/dev/null
    (cd "$work/image/layout" && tar --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 \
        --group=0 --numeric-owner --mode=u=rwX,go=rX -c blobs index.json oci-layout) >"$out/$name-image.tar"
}

# ---- the release

# fill TEMPLATE SHA256-OF-SOURCE SHA256-OF-AMD64 SHA256-OF-ARM64
fill() {
    sed -e "s,@VERSION@,$version,g; s,@REPOSITORY@,$repository,g" \
        -e "s,@SHA256_SOURCE@,$2,g; s,@SHA256_AMD64@,$3,g; s,@SHA256_ARM64@,$4,g" "$1"
    ! grep -oE '@[A-Z0-9_]+@' "$1" | grep -vxE '@(VERSION|REPOSITORY|SHA256_(SOURCE|AMD64|ARM64))@' >&2
}

sum_of() { sha256sum "$out/$name-$1.tar.gz" | cut -d ' ' -f 1; }

make_sources() {
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$out/$name-source.tar.gz"
    else
        fail "the source archive is made by git, and this is no clone"
    fi
}

# The chart, which installs the image of its own version if no other is named.
make_chart() {
    local staged=$work/chart/taffrail
    rm -rf "$work/chart"
    mkdir -p "$work/chart"
    cp -R manifests/chart "$staged"
    sed -i "s/^version: .*/version: $version/; s/^appVersion: .*/appVersion: \"$version\"/" "$staged/Chart.yaml"
    archive "$staged" "$out/$name-chart.tgz"
}

out_is_empty() { [ -z "$(ls -A "$out" 2>/dev/null)" ] || fail "$out is not empty"; }

make() {
    need release
    describe_sources
    check_changelog
    out_is_empty
    mkdir -p "$out"
    out=$(realpath "$out")
    echo "taffrail $version"
    local arch
    for arch in $arches; do
        unpack "$arch"
        compile "$arch" OFF taffrail
        stage "$arch"
        try "$arch"
        archive "$staged" "$out/$name-linux-$arch.tar.gz"
    done
    make_sources
    make_chart
    if whole; then
        if [ "$image" = yes ]; then
            make_image
            scripts/packaging/look_into_image.py "$out/$name-image.tar" "$version" amd64 arm64
        fi
        for template in homebrew/taffrail.rb krew/taffrail.yaml; do
            fill "scripts/packaging/$template" "$(sum_of source)" "$(sum_of linux-amd64)" "$(sum_of linux-arm64)" \
                >"$out/${template#*/}"
        done
    fi
    (cd "$out" && sha256sum -- * >SHA256SUMS)
    (cd "$out" && du -h -- *)
}

# Everything again, elsewhere: what differs in a release is a path, a time, a user or chance.
verify() {
    need release
    describe_sources
    out_is_empty
    local scratch arch
    scratch=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$scratch'" EXIT
    git clone -q . "$scratch/one"
    git clone -q . "$scratch/a/longer-way"
    (cd "$scratch/one" && CCACHE_DISABLE=1 scripts/release --out dist --repository "$repository")
    for arch in $arches; do # the same packages; their folder has another name
        mkdir -p "$scratch/a/longer-way/build-release/$arch"
        cp -al "$scratch/one/build-release/$arch"/{sysroot,owners,wanted} \
            "$scratch/a/longer-way/build-release/$arch"
    done
    (umask 077 && export TZ=Asia/Tokyo LC_ALL=C && cd "$scratch/a/longer-way" &&
        CCACHE_DISABLE=1 scripts/release --out dist --repository "$repository" >/dev/null)
    diff -r "$scratch/one/dist" "$scratch/a/longer-way/dist" ||
        fail "built twice, and not the same"
    echo "built twice, in two folders: the same bytes"
    cat "$scratch/one/dist/SHA256SUMS"
    mkdir -p "$out"
    cp "$scratch"/one/dist/* "$out/"
}
