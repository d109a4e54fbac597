//! Claimed keys to try for an SA, the likeliest first.

use crate::material::contents::KeyMaterial;
use crate::material::key::EspKey;
use rekeyscope_model::spi::Spi;
use std::collections::HashMap;
use std::net::IpAddr;

/// Keys by SPI. Looking one SA up costs what it finds, not the number of keys; only the keys without SPI are gone
/// through for every SA.
#[derive(Debug)]
pub struct EspKeyIndex {
    by_spi: HashMap<Spi, Vec<usize>>,
    without_spi: Vec<usize>,
}

impl EspKeyIndex {
    /// Indexes the keys. Entries with a defect are in it: they explain why an SA has no key.
    pub fn new(material: &KeyMaterial) -> Self {
        let mut index = EspKeyIndex {
            by_spi: HashMap::new(),
            without_spi: Vec::new(),
        };
        for (position, key) in material.esp.iter().enumerate() {
            match key.spi {
                Some(spi) => index.by_spi.entry(spi).or_default().push(position),
                None => index.without_spi.push(position),
            }
        }
        index
    }

    /// The keys of `material` (the one that was indexed) to try for the SA `spi` from `src` to `dst`: first the same SPI
    /// with fitting addresses, then the same SPI with others (NAT lies between), then keys for any SPI with fitting
    /// addresses, then all others for any SPI. Within each group in file order.
    pub fn candidates<'a>(
        &'a self,
        material: &'a KeyMaterial,
        src: IpAddr,
        dst: IpAddr,
        spi: Spi,
    ) -> impl Iterator<Item = &'a EspKey> + 'a {
        let same_spi = self.by_spi.get(&spi).map_or(&[][..], Vec::as_slice);
        [same_spi, self.without_spi.as_slice()]
            .into_iter()
            .flat_map(move |positions| {
                let keys = positions.iter().filter_map(|&p| material.esp.get(p));
                let fitting = keys.clone().filter(move |k| fits(k, src, dst));
                fitting.chain(keys.filter(move |k| !fits(k, src, dst)))
            })
    }
}

/// Tells whether the key's addresses admit these; an address that the file leaves open admits any.
fn fits(key: &EspKey, src: IpAddr, dst: IpAddr) -> bool {
    key.src.is_none_or(|a| a == src) && key.dst.is_none_or(|a| a == dst)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn likeliest_first() {
        let row = |src: &str, dst: &str, spi: &str, key: u8| {
            let key = format!("{key:02x}").repeat(16);
            format!(
                "\"IPv4\",\"{src}\",\"{dst}\",\"{spi}\",\"AES-CBC [RFC3602]\",\"0x{key}\",\"NULL\",\"\"\n"
            )
        };
        let table = row("*", "*", "*", 4)
            + &row("10.0.0.1", "10.0.0.2", "*", 3)
            + &row("192.168.0.1", "10.0.0.2", "0x1", 2)
            + &row("10.0.0.1", "10.0.0.2", "0x1", 1)
            + &row("10.0.0.1", "10.0.0.2", "0x2", 9)
            + &row("10.0.0.7", "10.0.0.2", "*", 5);
        let mut material = KeyMaterial::default();
        material.read_bytes(Path::new("table"), table.as_bytes());
        assert_eq!(material.problems, []);
        let index = EspKeyIndex::new(&material);
        let order: Vec<u8> = index
            .candidates(
                &material,
                "10.0.0.1".parse().unwrap(),
                "10.0.0.2".parse().unwrap(),
                Spi(1),
            )
            .map(|k| k.encryption_key.expose()[0])
            .collect();
        assert_eq!(order, [1, 2, 4, 3, 5]);
    }
}
