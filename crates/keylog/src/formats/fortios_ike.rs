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

/// Reader of the lines.
#[derive(Default)]
pub(crate) struct FortiosPhase1(IkeRecord);

impl KeyFormat for FortiosPhase1 {
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool {
        self.stated(line, sink).is_some()
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        self.0.emit(sink);
    }
}

impl FortiosPhase1 {
    /// Takes the secret that a line states, with the bytes that it has.
    fn stated(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> Option<()> {
        let mut words = words(line.text.get(find(line.text, b" SA ")? + 4..)?);
        let (initiator, responder) = split_at_sign(words.next()?, b'/')?;
        let cookie = |digits: &[u8]| ike_spi(&hex::decode(digits)?);
        let name = match words.next()? {
            b"key" => SecretName::Ka,
            name => SecretName::named(name)?,
        };
        let (count, digits) = split_at_sign(words.next()?, b':')?;
        let (initiator, count) = (cookie(initiator)?, number(count)?);
        self.0.initiator(Some(initiator), sink);
        self.0.responder(cookie(responder));
        match hex::decode(digits).filter(|key| key.len() as u64 == count) {
            Some(key) => self.0.secret(name, line.number, &key, sink),
            None => sink.problem(
                line.number,
                "the key is not as long as the line says: the line was cut, copy it again",
            ),
        }
        Some(())
    }
}
