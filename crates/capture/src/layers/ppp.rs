//! PPP (RFC 1661, framing of RFC 1662 §3.1).

use crate::layers::layer::{Control, FIRST_CONTROL, Layer, LayerStep, Layers, Stop, control_name};
use crate::layers::walk::Walk;

const LAYER: &str = "PPP";

impl<'a> Walk<'a> {
    pub(super) fn ppp(&mut self) -> Result<LayerStep<'a>, Stop> {
        self.descend(Layers::PPP)?;
        match self.peek::<2>(LAYER)? {
            // Address and control field, unless compressed away (ACFC).
            [0xff, 0x03] => self.skip(LAYER, 2)?,
            // Unicast and broadcast of Cisco HDLC.
            [0x0f | 0x8f, 0x00] => {
                let &[_, _, t0, t1] = self.take::<4>("Cisco HDLC")?;
                return Ok(LayerStep::Below(Layer::EtherType(u16::from_be_bytes([t0, t1]))));
            }
            _ => {}
        }
        let protocol = match *self.peek::<1>(LAYER)? {
            // PFC: the last byte of a protocol number is odd, the others are even (RFC 1661 §2).
            [low] if low & 1 == 1 => {
                self.skip(LAYER, 1)?;
                u16::from(low)
            }
            _ => self.take_u16(LAYER)?,
        };
        let other = |name| Err(Stop::Other(name));
        match protocol {
            0x0021 | 0x0057 => Ok(LayerStep::Below(Layer::Ip { in_ppp: true })),
            0x0281 | 0x0283 => self.mpls(),
            0x0031 => self.bridged(),
            0x003d => other("PPP multilink"),
            0x002d | 0x002f => other("PPP Van Jacobson compression"),
            0x0053 => other("PPP encryption"),
            0x00fd | 0x00fb => other("PPP compression or MPPE"),
            FIRST_CONTROL.. => {
                let &[code] = self.peek::<1>(control_name(protocol))?;
                Err(Stop::Control(Control::Ppp { protocol, code }))
            }
            _ => other("another PPP protocol"),
        }
    }

    /// BCP: flags and MAC type, then the frame (RFC 3518 §4.2), unless it is a control packet or no Ethernet.
    fn bridged(&mut self) -> Result<LayerStep<'a>, Stop> {
        const BRIDGING: &str = "PPP bridging";
        const CONTROL_PACKET: u8 = 0x10;
        const ETHERNET: u8 = 1;
        match self.take::<2>(BRIDGING)? {
            [flags, ETHERNET] if flags & CONTROL_PACKET == 0 => Ok(LayerStep::Below(Layer::Ethernet)),
            _ => Err(Stop::Other(BRIDGING)),
        }
    }
}
