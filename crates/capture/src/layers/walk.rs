//! The walk from layer to layer, down to the next IP header or to where no tunnel leads on.

use crate::layers::cursor::Walk;
use crate::layers::layer::{Found, Layer, LayerStep, Layers, Stop};
use etherparse::{IpNumber, ip_number};

impl<'a> Walk<'a> {
    /// Goes to the next IP header, or as far as tunnels lead.
    ///
    /// # Errors
    /// [`Stop`] when no packet is below.
    #[inline]
    pub fn next(&mut self, mut layer: Layer) -> Result<Found<'a>, Stop> {
        loop {
            match self.step(layer)? {
                LayerStep::Below(below) => layer = below,
                LayerStep::Found(found) => return Ok(found),
            }
        }
    }

    #[inline]
    fn step(&mut self, layer: Layer) -> Result<LayerStep<'a>, Stop> {
        match layer {
            Layer::Ip { in_ppp } => self.ip(in_ppp),
            Layer::EtherType(number) => self.ether_type(number),
            Layer::Ethernet => self.ethernet(),
            Layer::Protocol(number) => self.protocol(number),
            Layer::Llc => self.llc(),
            Layer::Pppoe => self.pppoe(),
            Layer::Ppp => self.ppp(),
            Layer::L2tp => self.l2tp(),
        }
    }

    #[inline]
    fn protocol(&mut self, number: IpNumber) -> Result<LayerStep<'a>, Stop> {
        match number {
            ip_number::IPV4 | ip_number::IPV6 => {
                if self.depth > 0 {
                    self.pass(Layers::IPIP);
                }
                self.ip(false)
            }
            ip_number::UDP => self.udp(),
            ip_number::GRE => self.gre(),
            ip_number::ETHER_IP => self.ether_ip(),
            ip_number::MPLS_IN_IP => self.mpls(),
            ip_number::LAYER2_TUNNELING_PROTOCOL => self.l2tpv3(),
            ip_number::IP_COMP => self.ip_comp(),
            other => Ok(LayerStep::Found(Found::Upper(other))),
        }
    }
}
