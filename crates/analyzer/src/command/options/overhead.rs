//! Options of `rekeyscope overhead`.

use super::language::LanguageArgument;
use clap::Args;

const EXAMPLES: &str = "\
Encapsulation, in any order: tunnel (default) or transport (default with a
tunnel protocol); natt (UDP 4500), ipv6 (outer), pppoe (--mtu is the Ethernet
link's); one tunnel protocol: l2tp gre gretap ipip etherip vxlan.

Examples:
  rekeyscope overhead --suite aes128gcm16 --encap l2tp,natt --mtu 1454
  rekeyscope overhead --suite aes128-sha1 --mtu 1500 --inner 1280
  rekeyscope overhead --suite null-md5 --encap gretap,pppoe --mtu 1500";

/// `rekeyscope overhead`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OverheadArguments {
    /// Cipher suite as strongSwan names it: aes128-sha1, aes256gcm16, 3des-md5, null-md5, chacha20poly1305, …
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: String,

    /// What lies around ESP and inside it, see below
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    pub(crate) encap: Vec<String>,

    /// Path MTU, bytes: the largest IP packet that passes
    #[arg(long, value_name = "BYTES", default_value = "1500", value_parser = bytes)]
    pub(crate) mtu: usize,

    /// Show an inner IP packet of this size too; may be given more than once
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) inner: Vec<usize>,

    #[command(flatten)]
    pub(crate) lang: LanguageArgument,
}

/// No IP packet is larger (RFC 791 §3.1).
const LARGEST: usize = 65_535;

fn bytes(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(bytes @ 1..=LARGEST) => Ok(bytes),
        _ => Err(format!("expected bytes from 1 to {LARGEST}")),
    }
}
