# NOT YET PUBLISHED: a draft. Nothing can be installed by it.
{ lib, rustPlatform, fetchurl }:

rustPlatform.buildRustPackage (finalAttrs: {
  pname = "rekeyscope";
  version = "0.1.0";

  src = fetchurl {
    url = "@REPOSITORY@/archive/refs/tags/v${finalAttrs.version}.tar.gz";
    sha256 = "@SHA256_SOURCE@";
  };
  cargoHash = "@HASH_OF_CRATES@";

  cargoBuildFlags = [ "-p" "rekeyscope" ];
  buildFeatures = [ "parquet" ];
  # The tests want Wireshark, Chromium and four Lua interpreters; the sample is enough here.
  doCheck = false;
  doInstallCheck = true;
  installCheckPhase = "$out/bin/rekeyscope samples/l2tp_pfs4096_down.pcap";

  meta = {
    description = "What did the IPsec rekeys in a capture cost?";
    homepage = "@REPOSITORY@";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "rekeyscope";
  };
})
