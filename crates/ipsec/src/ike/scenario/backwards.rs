//! Messages of an IKE SA before the one that begins it: a clock that was set back, a file written in reverse.

use super::*;
use rekeyscope_testkit::ike::Recording;

/// Timeline of a recording without keys, with the last message first if `backwards`. Times are the recorded ones.
fn pushed(recording: &Recording, backwards: bool) -> Timeline {
    let mut sent: Vec<_> = (1..).zip(&recording.sent).collect();
    if backwards {
        sent.reverse();
    }
    let mut timeline = Timeline::new(Vec::new());
    let mut diagnostics = Diagnostics::default();
    for (frame, (time, from_initiator, message)) in sent {
        let (a, b) = (INITIATOR.into(), RESPONDER.into());
        let (src, dst) = if *from_initiator { (a, b) } else { (b, a) };
        let context = MessageContext {
            ip_packets: 1,
            frame,
            time: *time,
            src,
            dst,
            outer: (src, dst),
            udp: UdpPorts { src: 500, dst: 500 },
        };
        timeline.push(context, message, &mut diagnostics);
    }
    timeline
}

fn assert_the_same(recording: &Recording) {
    let [forwards, backwards] = [false, true].map(|backwards| pushed(recording, backwards));
    let sas = |timeline: &Timeline| {
        let sas = timeline.ike_sas().iter();
        sas.map(|sa| {
            (
                sa.initiator_spi,
                sa.responder_spi,
                sa.initiator,
                sa.first_time,
                sa.last_time,
            )
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(sas(&forwards).len(), 1);
    assert_eq!(sas(&forwards), sas(&backwards));
    let exchanges = |timeline: &Timeline| {
        let exchanges = timeline.exchanges().iter();
        let mut told: Vec<_> = exchanges
            .map(|e| {
                (
                    e.first_time(),
                    e.last_time(),
                    e.kind,
                    e.known_initiator(),
                    e.messages,
                )
            })
            .collect();
        told.sort_unstable();
        told
    };
    assert_eq!(exchanges(&forwards), exchanges(&backwards));
}

/// A message: whether it is from the initiator, the responder's SPI, flags, first payload.
type SentMessage = (bool, [u8; 8], u8, u8);

fn recorded(version: u8, exchanges: &[(u8, u32, &[SentMessage])]) -> Recording {
    let mut recording = Recording::default();
    for &(exchange_type, message_id, messages) in exchanges {
        for (number, &(from_initiator, responder, flags, payload)) in messages.iter().enumerate() {
            let (first, body) = chain(&[(payload, vec![number as u8; 32])]);
            let header = Header {
                spis: [[1; 8], responder],
                first,
                version,
                exchange_type,
                flags,
                message_id,
            };
            recording.send(from_initiator, &header.message(&body));
        }
    }
    recording
}

#[test]
fn an_ike_sa_is_not_split_by_its_own_beginning() {
    let (unknown, known) = ([0; 8], [2; 8]);
    let main_mode = [
        (true, unknown, 0, 1),
        (false, known, 0, 1),
        (true, known, 0, 4),
        (false, known, 0, 4),
    ];
    assert_the_same(&recorded(1, &[(2, 0, &main_mode)]));
    let init = [(true, unknown, 0x08, 40), (false, known, 0x20, 40)];
    let by_initiator = [(true, known, 0x08, 40), (false, known, 0x20, 40)];
    let by_responder = [(false, known, 0, 40), (true, known, 0x28, 40)];
    assert_the_same(&recorded(
        2,
        &[(34, 0, &init), (35, 1, &by_initiator), (36, 0, &by_responder)],
    ));
}
