//! Phase 1 in `diagnose debug application ike -1` of FortiOS: Ka of IKEv1, and the four keys of IKEv2, a line each.
//!
//! ```text
//! ike 0:HQ:7: ISAKMP SA 33acac7650479d9d/4330a6ed090669bf key 16:55A51CD0…
//! ike 0:HQ:8: IKE SA 0640897749c18520/05b85dcdb8588501 SK_ei 16:290C6816…
//! ```

use crate::formats::format::KeyFormat;
use crate::lines::dump::MOST_DUMP_BYTES;
use crate::lines::fields::{find, number, split_at_sign, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::lines::wiped::append;
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::SecretName;
use crate::material::sink::Sink;
use rekeyscope_model::spi::IkeSpi;
use zeroize::Zeroizing;

/// Reader of the lines.
#[derive(Default)]
pub(crate) struct FortiosPhase1 {
    ike: IkeRecord,
    /// A secret that a terminal broke may go on on the next line.
    open: Option<OpenSecret>,
}

struct OpenSecret {
    line: u64,
    spis: (IkeSpi, Option<IkeSpi>),
    name: SecretName,
    /// Hex digits that the line says it has.
    count: u64,
    digits: Zeroizing<Vec<u8>>,
}

impl KeyFormat for FortiosPhase1 {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let goes_on = self.open.as_mut().filter(|_| hex::all_digits(line.text));
        if let Some(open) = goes_on {
            append(&mut open.digits, line.text);
        } else {
            self.close(sink);
            self.open = secret(line.text, line.number);
        }
        let Some(open) = &self.open else { return false };
        if open.digits.len() as u64 >= open.count {
            self.close(sink);
        }
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.close(sink);
        self.ike.emit(sink);
    }
}

impl FortiosPhase1 {
    fn close(&mut self, sink: &mut Sink<'_>) {
        let Some(open) = self.open.take() else { return };
        let (initiator, responder) = open.spis;
        self.ike.initiator(Some(initiator), sink);
        self.ike.responder(responder);
        let whole = open.digits.len() as u64 == open.count;
        match hex::decode(&open.digits).filter(|_| whole) {
            Some(key) => self.ike.secret(open.name, open.line, &key, sink),
            None => sink.problem(
                open.line,
                "the key is not as long as the line says: the line was cut, copy it again",
            ),
        }
    }
}

/// The secret of such a line, as far as it is there.
fn secret(text: &[u8], line: u64) -> Option<OpenSecret> {
    let rest = text.get(find(text, b" SA ")? + 4..)?;
    let mut words = words(rest);
    let (initiator, responder) = split_at_sign(words.next()?, b'/')?;
    let cookie = |digits: &[u8]| ike_spi(&hex::decode(digits)?);
    let name = match words.next()? {
        b"key" => SecretName::Ka,
        name => SecretName::named(name)?,
    };
    let (count, digits) = split_at_sign(words.next()?, b':')?;
    Some(OpenSecret {
        line,
        spis: (cookie(initiator)?, cookie(responder)),
        name,
        count: 2 * number(count).filter(|count| *count <= MOST_DUMP_BYTES as u64)?,
        digits: Zeroizing::new(digits.to_vec()),
    })
}
