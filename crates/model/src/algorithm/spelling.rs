//! Names of transforms are compared by their letters and digits, in lower case, without what stands in square brackets.
//! `AES-CBC [RFC3602]`, `AES_CBC` and `aes-cbc` are the same.

/// A known name and one in a key log are the same.
pub(super) fn same(known: &str, name: &[u8]) -> bool {
    letters(known.as_bytes()).eq(letters(name))
}

fn letters(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter()
        .take_while(|b| **b != b'[')
        .filter(|b| b.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
}

/// The letters of each name, for tests: a row that two names share shows twice.
#[cfg(test)]
pub(super) fn sorted(names: impl Iterator<Item = &'static str>) -> String {
    let mut sorted: Vec<String> = names
        .map(|name| letters(name.as_bytes()).map(char::from).collect())
        .collect();
    sorted.sort();
    sorted.dedup();
    sorted.join(" ")
}
