//! SAs, tunnels, and which key is proven for which SA.
