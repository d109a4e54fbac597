//! Tier 3: oddities, counted by kind, shown in every report. One bad packet never ends an analysis, and nothing is
//! skipped silently.
//!
//! Every sentence is a message of the catalogues (`oddities.ftl`) and follows the language, except where a container is
//! damaged or its compression is broken ([`rekeyscope_capture::file`]): what was found there is told in English only.

use crate::error::WireError;
use crate::text::{Arg, Message, Said};
use std::collections::BTreeMap;

/// Most kinds that are kept; a further one is counted under `other`. Kinds are compiled in, so this is never reached
/// by a capture.
const MOST_KINDS: usize = 512;

/// One kind of oddity and how often it was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// A stable identifier, `snake_case`.
    pub kind: &'static str,
    /// The protocol layer, for example `"pcapng"`, `"IPv4"`, `"IKE"`.
    pub layer: &'static str,
    /// Number of times.
    pub count: u64,
    /// The first frame (1-based); `None` for what belongs to no frame.
    pub first_frame: Option<u64>,
    /// One sentence for a person: what it means, and what to do where something can be done.
    pub said: Said,
}

/// The name of a layer as an argument: a message where it is more than the protocol's own name.
pub fn named(layer: &'static str) -> Arg {
    let id = match layer {
        "L2TP in clear" => "layer-l2tp-in-clear",
        "UDP 4500 without ESP or IKE" => "layer-udp-4500",
        "ESP with SPI 0" => "layer-esp-spi-0",
        "IP in IP" => "layer-ip-in-ip",
        "MPLS in IP" => "layer-mpls-in-ip",
        "IPv6 without next header" => "layer-no-next-header",
        "another IP protocol" => "layer-another-protocol",
        "another EtherType" => "layer-another-ethertype",
        "Ethernet flow control" => "layer-flow-control",
        "Ethernet loopback test" => "layer-loopback-test",
        "PPPoE discovery" => "layer-pppoe-discovery",
        "PPP compression or MPPE" => "layer-ppp-compression",
        "IPComp (whole payload needed)" => "layer-ipcomp-whole",
        "a stack of too many VLAN tags" => "layer-too-many-tags",
        "a stack of too many MPLS labels" => "layer-too-many-labels",
        "too many layers" => "layer-too-deep",
        "an MPLS payload" => "layer-mpls-payload",
        "a vendor's SNAP protocol" => "layer-snap",
        "an unknown version of PPPoE" => "layer-pppoe-version",
        "another PPP protocol" => "layer-another-ppp",
        "another address family" => "layer-another-family",
        "an unknown kind of capture header" => "layer-capture-header",
        "an unknown version of radiotap" => "layer-radiotap-version",
        "802.11 management" => "layer-wifi-management",
        "802.11 control" => "layer-wifi-control",
        "802.11 extension" => "layer-wifi-extension",
        "802.11 data without content" => "layer-wifi-empty",
        "802.11 data that is encrypted" => "layer-wifi-encrypted",
        "PPP network control" => "layer-ppp-network-control",
        "PPP link control" => "layer-ppp-link-control",
        "PPP authentication" => "layer-ppp-authentication",
        "PPP bridging" => "layer-ppp-bridging",
        "PPP encryption" => "layer-ppp-encryption",
        "PPP Van Jacobson compression" => "layer-ppp-van-jacobson",
        "GRE keepalive" => "layer-gre-keepalive",
        "GRE source routing" => "layer-gre-routing",
        "PPTP acknowledgement" => "layer-pptp-acknowledgement",
        "no next header (dummy packet)" => "layer-dummy",
        name => return name.into(),
    };
    Message::new(id).into()
}

/// The counter of a layer at one frame.
#[derive(Debug)]
pub struct FrameDiagnostics<'d> {
    /// The counter of all layers and frames.
    pub all: &'d mut Diagnostics,
    layer: &'static str,
    frame: Option<u64>,
}

impl FrameDiagnostics<'_> {
    /// Counts one more of `kind`, as [`Diagnostics::note`] does.
    pub fn note(&mut self, kind: &'static str, id: &'static str) {
        self.all.note(kind, self.layer, self.frame, id);
    }
}

/// The counter that is handed through the pipeline.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    by_kind: BTreeMap<(&'static str, &'static str), Diagnostic>,
}

impl Diagnostics {
    /// Counts one more of `kind`; the first one's `sentence` is the one that is shown.
    pub fn count<S: Into<Said>>(
        &mut self,
        kind: &'static str,
        layer: &'static str,
        frame: Option<u64>,
        sentence: impl FnOnce() -> S,
    ) {
        let key = if self.by_kind.len() < MOST_KINDS || self.by_kind.contains_key(&(layer, kind)) {
            (layer, kind)
        } else {
            ("analysis", "other")
        };
        self.by_kind
            .entry(key)
            .or_insert_with(|| Diagnostic {
                kind: key.1,
                layer: key.0,
                count: 0,
                first_frame: frame,
                said: sentence().into(),
            })
            .count += 1;
    }

    /// Counts one more of `kind`, whose sentence of the catalogue, `id`, has nothing to fill in.
    pub fn note(&mut self, kind: &'static str, layer: &'static str, frame: Option<u64>, id: &'static str) {
        self.count(kind, layer, frame, || Message::new(id));
    }

    /// The counter of a layer at one frame, or at none.
    pub fn at(&mut self, layer: &'static str, frame: Option<u64>) -> FrameDiagnostics<'_> {
        FrameDiagnostics {
            all: self,
            layer,
            frame,
        }
    }

    /// Counts a packet that its parser refused.
    pub fn count_wire_error(&mut self, error: WireError, frame: u64) {
        self.count("malformed", error.layer, Some(frame), || {
            Message::new("oddity-malformed")
                .with("layer", named(error.layer))
                .with("required", error.required)
                .with("offset", error.offset)
                .with("available", error.available)
        });
    }

    /// Adds everything that another counter has.
    pub fn absorb(&mut self, other: Diagnostics) {
        for (key, theirs) in other.by_kind {
            let (count, first_frame) = (theirs.count, theirs.first_frame);
            let ours = self
                .by_kind
                .entry(key)
                .or_insert(Diagnostic { count: 0, ..theirs });
            ours.count += count;
            ours.first_frame = ours.first_frame.min(first_frame);
        }
    }

    /// Number of times that `kind` was seen in `layer`.
    pub fn count_of(&self, kind: &'static str, layer: &'static str) -> u64 {
        self.by_kind.get(&(layer, kind)).map_or(0, |d| d.count)
    }

    /// All kinds, ordered by layer and kind.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.by_kind.values()
    }
}
