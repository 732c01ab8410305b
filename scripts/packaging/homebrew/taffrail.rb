# The formula of `brew install`, for macOS and Linux; scripts/release fills it in. It builds the commands that
# work on files and clusters, without the webhook's server.
class Taffrail < Formula
  desc "Guard rails of compute and placement for Kubernetes: check, test, plan"
  homepage "@REPOSITORY@"
  url "@REPOSITORY@/releases/download/v@VERSION@/taffrail-@VERSION@-source.tar.gz"
  version "@VERSION@"
  sha256 "@SHA256_SOURCE@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "gnutls"
  depends_on "json-c"
  depends_on "libyaml"
  uses_from_macos "curl"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DBUILD_TESTING=OFF",
                    "-DTAFFRAIL_SERVE=OFF", "-DTAFFRAIL_VERSION=#{version}", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    generate_completions_from_executable(bin/"taffrail", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    (testpath/"policy.yaml").write <<~YAML
      apiVersion: taffrail.dev/v1alpha1
      kind: GuardRails
      metadata: {name: formula}
      spec: {mode: enforce, rails: {topology-keys: {}}}
    YAML
    (testpath/"pod.yaml").write <<~YAML
      apiVersion: v1
      kind: Pod
      metadata: {name: a}
      spec:
        topologySpreadConstraints:
          - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
        containers: [{name: a, image: a}]
    YAML
    assert_match "deny topology-keys", shell_output("#{bin}/taffrail check -p policy.yaml -f pod.yaml", 1)
    assert_match version.to_s, shell_output("#{bin}/taffrail version")
  end
end
