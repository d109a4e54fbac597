//! Phase 1 in `diagnose debug application ike -1` of FortiOS: Ka of IKEv1, and the four keys of IKEv2, a line each.
//!
//! ```text
//! ike 0:HQ:7: ISAKMP SA 33acac7650479d9d/4330a6ed090669bf key 16:55A51CD0…
//! ike 0:HQ:8: IKE SA 0640897749c18520/05b85dcdb8588501 SK_ei 16:290C6816…
//! ```

use crate::formats::format::KeyFormat;
use crate::lines::fields::{find, number, split_at_sign, words};
use crate::lines::hex;
use crate::lines::outer::LogLine;
use crate::material::ike_record::{IkeRecord, ike_spi};
use crate::material::key::SecretName;
use crate::material::sink::Sink;
use rekeyscope_model::spi::IkeSpi;

/// Reader of the lines.
#[derive(Default)]
pub(crate) struct FortiosPhase1 {
    ike: IkeRecord,
}

impl KeyFormat for FortiosPhase1 {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        let Some((initiator, responder, name, key)) = secret(line.text) else {
            return false;
        };
        self.ike.initiator(Some(initiator), sink);
        self.ike.responder(responder);
        match key {
            Some(key) => self.ike.secret(name, line.number, &key, sink),
            None => sink.problem(
                line.number,
                "the key is not as long as the line says: the line was cut, copy it again",
            ),
        }
        true
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.ike.emit(sink);
    }
}

type Secret = (IkeSpi, Option<IkeSpi>, SecretName, Option<Vec<u8>>);

/// Both cookies of such a line, the name of its secret, and the secret where it is whole.
fn secret(text: &[u8]) -> Option<Secret> {
    let rest = text.get(find(text, b" SA ")? + 4..)?;
    let mut words = words(rest);
    let (initiator, responder) = split_at_sign(words.next()?, b'/')?;
    let cookie = |digits: &[u8]| ike_spi(&hex::decode(digits)?);
    let name = match words.next()? {
        b"key" => SecretName::Ka,
        name => SecretName::named(name)?,
    };
    let (count, digits) = split_at_sign(words.next()?, b':')?;
    let count = number(count)?;
    let key = hex::decode(digits).filter(|key| key.len() as u64 == count);
    Some((cookie(initiator)?, cookie(responder), name, key))
}
