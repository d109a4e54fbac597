//! Writing that all copies of a capture share.

use rekeyscope_model::error::Error;
use std::io::{BufWriter, Write};
use std::path::Path;
use zeroize::Zeroize;

/// Bytes of an output that wait for one call of the system.
const WAITING: usize = 1 << 18;

/// An output whose pieces are written together.
pub fn buffered<W: Write>(out: W) -> BufWriter<W> {
    BufWriter::with_capacity(WAITING, out)
}

/// Wipes the memory in which pieces of a written output waited: keys may have been among them.
pub fn wipe<W: Write>(written: BufWriter<W>) {
    if let (_, Ok(mut waited)) = written.into_parts() {
        waited.zeroize();
    }
}

/// Wraps an error of the file that is being written.
pub fn output_error(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    |source| Error::Output {
        path: path.into(),
        source,
    }
}
