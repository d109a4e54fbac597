//! **Synthetic** transfers with rekeys whose cost is known, and what the ledger says of them: nothing in here was ever measured.
//!
//! ```text
//! transfer     a path, a sender with timeouts and congestion control, rekeys; transmissions as the ledger reads them
//! calibration  many transfers of each kind: what is asked of the ledger, and the tables of docs/evidence/calibration.md
//! bin          calibration: prints these tables
//! ```

pub mod calibration;
pub mod transfer;
