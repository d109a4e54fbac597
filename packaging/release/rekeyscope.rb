# NOT YET PUBLISHED: a draft. Nothing can be installed by it.
class Rekeyscope < Formula
  desc "What did the IPsec rekeys in a capture cost?"
  homepage "@REPOSITORY@"
  url "@REPOSITORY@/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "@SHA256_SOURCE@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--features", "parquet", *std_cargo_args(path: "crates/analyzer")
    generate_completions_from_executable(bin/"rekeyscope", "completions")
    (man1/"rekeyscope.1").write Utils.safe_popen_read(bin/"rekeyscope", "man")
    pkgshare.install "wireshark", "samples"
  end

  test do
    assert_match "rekeys", shell_output("#{bin}/rekeyscope #{pkgshare}/samples/l2tp_pfs4096_down.pcap")
  end
end
