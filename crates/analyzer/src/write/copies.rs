//! The capture once more, as a pcapng file: with its decrypted packets ([`inner`]), or with comments ([`annotate`]). Both
//! need what the whole analysis found out, so they read the capture a second time.

use rekeyscope_model::error::Error;
use std::path::Path;

/// Wraps an error of the file that is being written.
pub fn output_error(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    |source| Error::Output {
        path: path.into(),
        source,
    }
}
