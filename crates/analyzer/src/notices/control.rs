//! Control messages of L2TP (RFC 2661), and of PPP's link control (RFC 1661) and authentication protocols (RFC 1334, 1994, 3748).

use crate::notices::run::{Repeats, RunList};
use foldhash::HashMap;
use rekeyscope_ipsec::esp::inner::Control;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use std::net::IpAddr;

/// Copies of a farewell within a full retransmission cycle are one (RFC 2661 §5.7: 31 s).
const FAREWELL_CYCLE: i64 = 31 * NANOS_PER_SECOND;

/// A message of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ControlNotice {
    /// The control connection is stopped.
    StopCcn,
    /// A session is disconnected.
    CallDisconnect,
    /// The link is terminated.
    Terminate,
    /// A login is refused, by a message of this name.
    LoginRefused(&'static str),
    /// Nobody answered.
    Unanswered(ControlQuestion),
    /// The last copy alone was answered.
    AnsweredLate(ControlQuestion),
}

/// A question that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ControlQuestion {
    /// L2TP Hello (RFC 2661 §5.5).
    Hello,
    /// LCP Echo-Request (RFC 1661 §5.8).
    Echo,
}

/// A word of one side, or a question in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ControlWord {
    pub(crate) tunnel: TunnelIndex,
    pub(crate) notice: ControlNotice,
    /// The side that sent the message, or asked the question.
    pub(crate) by: IpAddr,
    pub(crate) peer: IpAddr,
}

/// The answer to a login, where a message is one: accepted, or refused by a message of this name (PAP, RFC 1334 §2.2; CHAP, RFC 1994 §4.2; EAP,
/// RFC 3748 §4.2).
fn login_of(protocol: u16, code: u8) -> Option<Result<(), &'static str>> {
    match (protocol, code) {
        (0xc023, 2) | (0xc223 | 0xc227, 3) => Some(Ok(())),
        (0xc023, 3) => Some(Err("PAP Authenticate-Nak")),
        (0xc223, 4) => Some(Err("CHAP Failure")),
        (0xc227, 4) => Some(Err("EAP Failure")),
        _ => None,
    }
}

/// Follows the control messages of all tunnels. Bounded: two questions, three farewells and a login for each side of a tunnel, and the runs.
#[derive(Debug, Default)]
pub(crate) struct ControlLog {
    /// The last login that a side accepted.
    accepted: HashMap<(TunnelIndex, IpAddr), Timestamp>,
    open: HashMap<ControlWord, Repeats>,
    found: RunList<(ControlWord, Repeats)>,
}

impl ControlLog {
    /// Takes a message of a tunnel from `by` to `peer`.
    #[cold]
    pub(crate) fn take(
        &mut self,
        tunnel: TunnelIndex,
        (by, peer): (IpAddr, IpAddr),
        control: Control,
        (time, frame): (Timestamp, u64),
    ) {
        let said = |notice| ControlWord {
            tunnel,
            notice,
            by,
            peer,
        };
        let question = |question| said(ControlNotice::Unanswered(question));
        let asked = |notice| ControlWord {
            by: peer,
            peer: by,
            ..said(notice)
        };
        match control {
            Control::L2tp(kind) => {
                // Any control message acknowledges (RFC 2661 §5.8).
                self.answered(asked, ControlQuestion::Hello);
                // The message types are those of RFC 2661 §3.2.
                match kind {
                    Some(4) => {
                        self.give_up(question(ControlQuestion::Hello));
                        self.give_up(question(ControlQuestion::Echo));
                        self.farewell(said(ControlNotice::StopCcn), time, frame);
                    }
                    Some(14) => {
                        self.give_up(question(ControlQuestion::Echo));
                        self.farewell(said(ControlNotice::CallDisconnect), time, frame);
                    }
                    Some(6) => self.ask(question(ControlQuestion::Hello), time, frame),
                    _ => {}
                }
            }
            // The protocol is LCP, the codes are Terminate-Request, Echo-Request and Echo-Reply (RFC 1661 §5).
            Control::Ppp {
                protocol: 0xc021,
                code,
            } => match code {
                5 => {
                    self.give_up(question(ControlQuestion::Echo));
                    self.farewell(said(ControlNotice::Terminate), time, frame);
                }
                9 => self.ask(question(ControlQuestion::Echo), time, frame),
                10 => self.answered(asked, ControlQuestion::Echo),
                _ => {}
            },
            // An access line is no session of the tunnel.
            Control::Pppoe(_) => {}
            Control::Ppp { protocol, code } => match login_of(protocol, code) {
                Some(Ok(())) => {
                    self.accepted.insert((tunnel, by), time);
                }
                // Whoever tries again is refused again, and each refusal is a message to look up.
                Some(Err(name)) => {
                    let refused = said(ControlNotice::LoginRefused(name));
                    self.found.push((refused, Repeats::begin(time, frame)));
                }
                None => {}
            },
        }
    }

    /// Tells whether a side accepted a login after a moment.
    pub(crate) fn accepts_after(&self, said: &ControlWord, time: Timestamp) -> bool {
        let accepted = self.accepted.get(&(said.tunnel, said.by));
        accepted.is_some_and(|last| *last > time)
    }

    fn ask(&mut self, said: ControlWord, time: Timestamp, frame: u64) {
        let run = self.open.entry(said);
        run.and_modify(|run| run.go_on(time))
            .or_insert_with(|| Repeats::begin(time, frame));
    }

    /// Ends a question without an answer: what acknowledges a farewell, or belongs to a session after it, answers nothing before it.
    fn give_up(&mut self, asked: ControlWord) {
        if let Some(run) = self.open.remove(&asked) {
            self.found.push((asked, run));
        }
    }

    fn farewell(&mut self, said: ControlWord, time: Timestamp, frame: u64) {
        if let Some(run) = self.open.get_mut(&said)
            && time.nanos_since(run.last) <= FAREWELL_CYCLE
        {
            run.go_on(time);
            return;
        }
        if let Some(run) = self.open.insert(said, Repeats::begin(time, frame)) {
            self.found.push((said, run));
        }
    }

    /// Notes the answer to the last question; the questions before that one stay unanswered.
    fn answered(&mut self, asked: impl Fn(ControlNotice) -> ControlWord, question: ControlQuestion) {
        if let Some(mut run) = self.open.remove(&asked(ControlNotice::Unanswered(question)))
            && run.count > 1
        {
            run.count -= 1;
            self.found
                .push((asked(ControlNotice::AnsweredLate(question)), run));
        }
    }

    /// All runs, those included that nothing has ended yet.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (ControlWord, Repeats)> {
        let open = self.open.iter().map(|(said, run)| (*said, *run));
        self.found.kept.iter().copied().chain(open)
    }

    /// Runs that were not kept.
    pub(crate) fn left_out(&self) -> u64 {
        self.found.left_out
    }
}
