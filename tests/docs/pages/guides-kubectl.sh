# shellcheck shell=bash
prepare() { cp -r manifests/policies manifests/demo .; }
