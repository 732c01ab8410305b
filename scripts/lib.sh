# shellcheck shell=bash
# Sourced by the scripts beside it, which have changed to the root of the repository.

# The Debian packages each task needs, and why. Those of "sysroot" are unpacked by scripts/release, never
# installed.
packages="
build gcc                the C compiler
build libc6-dev          the C library's headers
build cmake              configures the build
build ninja-build        runs the build
build pkg-config         finds the libraries
build libmicrohttpd-dev  serves HTTPS
build libgnutls28-dev    TLS, keys and certificates
build libjson-c-dev      writes JSON
build libyaml-dev        reads YAML
build libcurl4-gnutls-dev speaks to the API server
build zlib1g-dev         unpacks audit logs
build libcunit1-dev      runs the unit tests
test  openssl            checks the certificates that are made
test  python3            runs the scenarios, and speaks HTTPS to the server
test  python3-yaml       reads the scenarios
test  python3-jsonschema checks policies by their schema
test  python3-jsonpatch  applies the patches that pods get
test  python3-kubernetes watches the fake API server that the client is tested with
test  curl               downloads in pipelines
test  rsync              copies the repository of a pipeline
test  fish               completes the program's words
test  zsh                completes them, too
test  mandoc             reads the manual pages
test  valgrind           counts instructions
clang clang              the second compiler
coverage libclang-rt-dev   counts branches, and looks for inputs
coverage llvm            reads what was counted
lint  clang-format       checks the format
lint  clang-tidy         finds bugs
lint  cppcheck           finds bugs that others miss
lint  shellcheck         checks the shell scripts
demo  curl               posts the reviews
demo  jq                 reads the answers
demo  yq                 turns the sample manifests into reviews
release gcc               compiles for amd64
release gcc-aarch64-linux-gnu compiles for arm64
release cmake             configures the build
release ninja-build       runs the build
release pkg-config        finds the libraries
release python3           writes the SBOM
release qemu-user-static  runs programs for arm64
release buildah           makes the image
sysroot libkrb5-dev       a part of libcurl
sysroot libldap-dev       a part of libcurl
sysroot libsasl2-dev      a part of libldap
sysroot libbrotli-dev     a part of libcurl
sysroot libssh2-1-dev     a part of libcurl
sysroot librtmp-dev       a part of libcurl
sysroot libpsl-dev        a part of libcurl
sysroot libidn2-dev       a part of libcurl
sysroot libnghttp2-dev    a part of libcurl
sysroot libzstd-dev       a part of libcurl
sysroot libunistring-dev  a part of GnuTLS
monitoring prometheus    scrapes the server; its promtool tries the alerts
monitoring python3       runs both
pages chromium           shows the pages of audit and plan
pages python3            makes them
bench python3            makes the bodies
bench wrk                sends them
bench nghttp2-client     sends them at a fixed rate
bench valgrind           counts instructions
bound glpk-utils         solves the linear program
bound python3            writes it
supply checksec          looks at how the program was linked
supply sslscan           looks at its TLS
supply reuse             looks at licences
supply debsecan          knows what is known of packages
supply python3-venv      installs pip-audit
soak  curl               reads the metrics
soak  openssl            makes certificates
soak  python3            makes the bodies
soak  wrk                sends them
"

# missing TASK...: the packages of these tasks that are not installed, a line each, and why.
missing() {
    local task package why seen=""
    while read -r task package why; do
        case " $* " in *" $task "*) ;; *) continue ;; esac
        case " $seen " in *" $package "*) continue ;; esac
        seen="$seen $package"
        # shellcheck disable=SC2016 # the format is dpkg-query's, not the shell's
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
            printf '%-18s %s\n' "$package" "$why"
        fi
    done <<<"$packages"
}

# packages_of TASK
packages_of() { awk -v task="$1" '$1 == task { print $2 }' <<<"$packages"; }

# need TASK...: installs the packages of these tasks that are missing, and says which and why.
need() {
    if ! command -v dpkg-query >/dev/null; then
        echo "$0: no dpkg here: see scripts/lib.sh for what must be installed" >&2
        return
    fi
    local lacking
    lacking=$(missing "$@")
    [ -n "$lacking" ] || return 0
    echo "Debian packages that are missing:"
    printf '  %s\n' "${lacking//$'\n'/$'\n  '}"
    lacking=$(awk '{ print $1 }' <<<"$lacking" | tr '\n' ' ')
    local sudo=""
    if [ "$(id -u)" -ne 0 ]; then
        sudo=sudo
        if ! command -v sudo >/dev/null; then
            echo "$0: not root, and there is no sudo; have root run this, then start again:" >&2
            echo "    apt-get update && apt-get install --no-install-recommends $lacking" >&2
            exit 2
        fi
    fi
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $lacking >/dev/null
}

fail() {
    echo "$0: $*" >&2
    exit 2
}

# build_targets TARGET...: sets $build to a folder that holds them, unless --build has named one.
build_targets() {
    [ -z "$build" ] || return 0
    need build
    cmake --preset release >/dev/null
    cmake --build --preset release --target "$@" -- --quiet -j "$(nproc)"
    build=build
}

# Of the numbers on standard input, a line each.
median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# The files of the repository, NUL after each; build folders aside.
all_files() {
    find . \( -name .git -o -path './build*' \) -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z
}

# The C files people write; NAME_data.c is generated.
c_files() { all_files | grep -zE '\.[ch]$' | grep -zvE '_data\.c$'; }

shell_files() {
    all_files | grep -zvE '\.[ch]$' |
        while IFS= read -r -d '' file; do
            case $file in
            *.sh) printf '%s\0' "$file" ;;
            *) if head -c 32 "$file" | grep -aqE '^#!.*\b(ba)?sh\b'; then printf '%s\0' "$file"; fi ;;
            esac
        done
}
