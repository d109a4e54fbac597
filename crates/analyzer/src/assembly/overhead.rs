//! What ESP costs in bytes, per cipher suite in use → the document.

use crate::pipeline::record::Record;
use rekeyscope_ipsec::overhead::{EspSizes, mss};
use rekeyscope_ipsec::sa::association::{AssignedKey, Association};
use rekeyscope_model::algorithm::Integrity;
use rekeyscope_model::analysis::{Encapsulation, Overhead};
use std::collections::BTreeMap;

/// One entry per suite, encapsulation and outer IP version: these make the sizes.
pub(crate) fn overhead(record: &Record) -> Vec<Overhead> {
    let mut entries: BTreeMap<(String, bool, bool), Overhead> = BTreeMap::new();
    for a in record.wanted_sas() {
        let (Some(key), true) = (&a.key, a.counters.opened > 0) else {
            continue;
        };
        let suite = match key.transform.integrity {
            Integrity::None => key.transform.encryption_name(),
            integrity => format!("{}/{integrity}", key.transform.encryption_name()),
        };
        let place = (
            suite.clone(),
            a.encapsulation == Encapsulation::Udp,
            a.dst.is_ipv6(),
        );
        let entry = entries.entry(place).or_insert_with(|| Overhead {
            suite,
            encapsulation: Some(a.encapsulation),
            ..Overhead::default()
        });
        add(entry, a, key);
    }
    let mut list: Vec<Overhead> = entries.into_values().collect();
    for entry in &mut list {
        let parts = entry.inner_bytes + entry.iv + entry.padding + entry.icv;
        entry.outer_headers = entry.outer_bytes.saturating_sub(parts);
        entry.efficiency = entry.inner_bytes as f64 / entry.outer_bytes.max(1) as f64;
    }
    list
}

fn add(sum: &mut Overhead, a: &Association, key: &AssignedKey) {
    let c = &a.counters;
    sum.packets += c.opened;
    sum.outer_bytes += c.opened_outer_bytes;
    sum.inner_bytes += c.inner_bytes;
    sum.iv += c.opened * key.cipher.iv_len() as u64;
    sum.padding += c.padding_bytes;
    sum.icv += c.opened * key.cipher.icv_len() as u64;
    sum.largest_inner_packet = sum.largest_inner_packet.max(c.largest_inner);
    if c.largest_outer > sum.largest_outer_packet.unwrap_or(0) {
        sum.largest_outer_packet = Some(c.largest_outer);
        let largest = c.headers_of_largest.and_then(|headers| {
            let payload = EspSizes::of(a, key).largest_payload(c.largest_outer as usize)? as i64;
            usize::try_from(payload - headers).ok()
        });
        sum.largest_inner_for_path = largest.map(|bytes| bytes as u64);
        let [v4, v6] = largest.map_or([None; 2], mss);
        (sum.mss_ipv4, sum.mss_ipv6) = (v4.map(|m| m as u64), v6.map(|m| m as u64));
    }
}
