//! Why did a rekey hurt, and what was wrong that no rekey caused?
//!
//! [`Diagnosis`] remembers the last packets ([`recorder`]) and some counters ([`whole_run`]). When the window of a rekey
//! closes, it becomes a [`scene::RekeyScene`], and every detector looks at it: a pure function that gives at most one
//! [`symptom::Symptom`] with its frames. [`causes`] lists them, a row for each cause. They lie in one file per group:
//! [`exchange`] (what IKE messages show), [`switch`] (the change of SAs), [`transport`] (inner TCP), [`path`] (sizes, NAT,
//! PPP, the capture itself). Attempts that failed have detectors of their own ([`failure`]), over the finished tables;
//! [`close_up`] what passed right around a rekey, [`proof`] says what the packets prove. [`absent`] says what was seen instead of a cause that no rekey has.

pub(crate) mod absent;
pub(crate) mod causes;
mod clear;
mod close_up;
mod detect;
mod exchange;
pub(crate) mod failure;
mod holes;
mod path;
mod proof;
mod proven;
mod record;
mod recorder;
mod scene;
mod silence;
mod switch;
mod symptom;
mod tcp;
mod transport;
pub mod whole_run;

pub(crate) use causes::{CAUSES, Detector};
pub(crate) use clear::ClearPackets;
pub(crate) use close_up::{CloseUpPoint, CloseUpRecord};
pub(crate) use detect::Diagnosis;
pub(crate) use holes::Hole;
pub(crate) use record::PacketRecord;
pub(crate) use symptom::{MOST_FRAMES, display_filter};
pub(crate) use whole_run::CaptureSilence;
