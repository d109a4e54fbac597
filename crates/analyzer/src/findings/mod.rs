//! What was wrong that no rekey caused. One file per subject: [`sizes`], [`loss`], [`sas`] look at one tunnel and
//! direction (a [`lane::Lane`]), [`trace`] at the capture.

pub(crate) mod find;
mod lane;
mod loss;
mod sas;
mod sizes;
mod trace;

pub(crate) use find::findings;
