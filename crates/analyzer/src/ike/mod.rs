//! IKE messages → exchanges. IKEv1: RFC 2407, 2408, 2409. IKEv2: RFC 7296.

pub mod timeline;
