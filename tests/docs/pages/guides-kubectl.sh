prepare() { cp -r manifests/policies manifests/demo .; }
