//! The present state of a walk through an ESP payload, and its two ends.

use crate::esp::inner::found::{Inner, WHOLE_PAYLOAD_NEEDED};
use etherparse::IpNumber;
use rekeyscope_capture::layers::{Stop, Walk};
use rekeyscope_model::flow::FiveTuple;
use std::net::IpAddr;

/// The walk's present state.
pub(super) struct Descent<'a, 'i> {
    pub(super) walk: Walk<'a>,
    /// Source and destination of the innermost IP header so far.
    pub(super) ends: Option<(IpAddr, IpAddr)>,
    pub(super) inflated: bool,
    pub(super) inner: &'i mut Inner,
}

impl Descent<'_, '_> {
    /// The walk ends short of transport: what is left counts as payload, unless it is a control message.
    pub(super) fn stop(&mut self, stop: Stop) {
        self.inner.layers = self.inner.layers.with(self.walk.passed());
        self.inner.stopped_at = Some(stop.name());
        let ran_out = matches!(stop, Stop::Broken(_) | Stop::Other(WHOLE_PAYLOAD_NEEDED));
        self.inner.prefix_too_short = ran_out && self.walk.bytes().len() < self.walk.layer_len();
        match stop {
            Stop::Control(control) => self.inner.control = Some(control),
            _ => self.inner.transport_bytes = saturated(self.walk.layer_len()),
        }
    }

    /// Ends the walk at a flow. Without addresses (transport mode, outer ones not given) there is no flow.
    pub(super) fn reached(&mut self, protocol: IpNumber, (src_port, dst_port): (u16, u16), payload: usize) {
        self.inner.layers = self.inner.layers.with(self.walk.passed());
        self.inner.transport_bytes = saturated(payload);
        self.inner.flow = self.ends.map(|(src, dst)| FiveTuple {
            protocol: protocol.0,
            src,
            dst,
            src_port,
            dst_port,
        });
    }
}

pub(super) fn saturated(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
