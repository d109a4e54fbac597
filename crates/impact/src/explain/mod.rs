//! What explains a time without delivery: one table of causes, tried in one order.

mod scene;

pub use scene::{
    ExchangeInScene, MadeByExchange, OutageInScene, SaInScene, Scene, SilencesOfSide, SwallowedPacket,
};
