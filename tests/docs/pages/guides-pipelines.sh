# shellcheck shell=bash
prepare() { mkdir policies && cp manifests/policies/starter.yaml policies/; }
