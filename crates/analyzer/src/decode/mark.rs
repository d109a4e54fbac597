//! What an IKE message among ESP packets means to those who count them.

use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::Timestamp;

/// An IKE message among the packets: what it means to those who count them is done in its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IkeMark {
    pub(crate) tunnel: TunnelIndex,
    /// Index of its exchange.
    pub(crate) exchange: usize,
    pub(crate) time: Timestamp,
    pub(crate) part: IkePart,
    /// Packets of the batch before it.
    pub(super) place: usize,
}

/// Which part of an exchange a message is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IkePart {
    /// The first of an exchange that makes child SAs, and how many SAs its tunnel had.
    Opening { sas: usize },
    /// The first of another one.
    OtherOpening,
    /// A further one.
    Further,
}

impl IkeMark {
    /// A mark that [`Batch::mark`] will give its place.
    pub(crate) fn new(tunnel: TunnelIndex, exchange: usize, time: Timestamp, part: IkePart) -> Self {
        IkeMark {
            tunnel,
            exchange,
            time,
            part,
            place: 0,
        }
    }
}
