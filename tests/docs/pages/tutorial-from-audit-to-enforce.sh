# shellcheck shell=bash
# cluster
