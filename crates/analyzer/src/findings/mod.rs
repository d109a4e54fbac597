//! Troubles that no rekey caused, one file for each subject: [`sizes`], [`loss`], [`sas`] look at one tunnel and
//! direction (a [`lane::Lane`]), [`trace`] at the capture.

pub(crate) mod find;
mod lane;
mod loss;
mod sas;
mod sizes;
mod trace;

pub(crate) use find::findings;
