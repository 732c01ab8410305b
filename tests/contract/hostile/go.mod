module taffrail.dev/taffrail/tests/contract/hostile

go 1.19
