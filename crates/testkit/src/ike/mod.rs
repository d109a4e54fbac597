//! IKE messages, really encrypted. Peers ([`Ikev1`], [`Ikev2`]) say what a test tells them over a [`Wire`].

mod ikev1;
mod ikev2;
mod message;
mod phase1;
mod recording;
mod sa;
mod wire;

pub use ikev1::Ikev1;
pub use ikev2::{Directed, Ikev2, seal};
pub use message::{Header, Payloads, chain};
pub use phase1::{Hash, PHASE_1, Phase1};
pub use recording::Recording;
pub use sa::{EspOffer, esp_sa, ikev2_ike_sa, ikev2_sa, phase1_sa, rekey_sa};
pub use wire::{INITIATOR, RESPONDER, Wire};
