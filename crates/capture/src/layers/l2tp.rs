//! L2TPv2 (RFC 2661 §3.1, §3.2) and L2TPv3 (RFC 3931 §4.1) with Ethernet inside (RFC 4719).

use crate::layers::layer::{Control, Layer, LayerStep, Layers, Stop};
use crate::layers::plausible::is_ethernet;
use crate::layers::walk::Walk;

const V2: &str = "L2TP";
const V3: &str = "L2TPv3";
/// T bit: a control message.
const CONTROL: u16 = 0x8000;
/// L bit: a length field.
const LENGTH: u16 = 0x4000;
/// S bit: Ns and Nr fields.
const SEQUENCE: u16 = 0x0800;
/// O bit: an offset field.
const OFFSET: u16 = 0x0200;
/// Control header: flags, length, tunnel, session, Ns, Nr.
const CONTROL_HEADER_LEN: usize = 12;
/// AVP header and value of the message type, which is the first AVP (RFC 2661 §4.4.1).
const MESSAGE_TYPE_AVP_LEN: usize = 8;
/// Lengths of the cookie and the sublayer together.
const BEFORE_FRAME: [usize; 4] = [0, 4, 8, 12];

/// The control message in a packet of L2TP; `None` for data.
pub fn l2tp_control(packet: &[u8]) -> Option<Control> {
    match Walk::new(packet, packet.len()).l2tp() {
        Err(Stop::Control(control)) => Some(control),
        _ => None,
    }
}

impl<'a> Walk<'a> {
    pub(super) fn l2tp(&mut self) -> Result<LayerStep<'a>, Stop> {
        self.pass(Layers::L2TP);
        let flags = u16::from_be_bytes(*self.peek::<2>(V2)?);
        if flags & CONTROL != 0 {
            return Err(self.l2tp_control());
        }
        if flags & 15 != 2 {
            // RFC 3931 §4.1.2.1: version, reserved, then as over IP.
            self.skip(V3, 4)?;
            return self.l2tpv3();
        }
        if flags & LENGTH != 0 {
            let &[_, _, l0, l1] = self.peek::<4>(V2)?;
            self.cut_to(usize::from(u16::from_be_bytes([l0, l1])));
        }
        let optional = |flag: u16, len: usize| if flags & flag != 0 { len } else { 0 };
        // Flags, length, tunnel and session, Ns and Nr.
        self.skip(V2, 2 + optional(LENGTH, 2) + 4 + optional(SEQUENCE, 4))?;
        if flags & OFFSET != 0 {
            let pad = self.take_u16(V2)?;
            self.skip(V2, usize::from(pad))?;
        }
        Ok(LayerStep::Below(Layer::Ppp))
    }

    /// From the session ID on. The lengths of cookie and sublayer are negotiated and not on the wire, and neither is what
    /// is inside: an Ethernet frame is taken for one when a choice of lengths makes sense of it. (The smallest: four
    /// bytes more make sense too when they pass over a VLAN tag.)
    pub(super) fn l2tpv3(&mut self) -> Result<LayerStep<'a>, Stop> {
        self.pass(Layers::L2TP);
        let session = u32::from_be_bytes(*self.take::<4>(V3)?);
        if session == 0 {
            return Err(Stop::Control(Control::L2tp(None)));
        }
        let before_frame = BEFORE_FRAME.into_iter().find(|&len| {
            let room = self.len.saturating_sub(len);
            self.bytes
                .get(len..)
                .is_some_and(|frame| is_ethernet(frame, room))
        });
        self.skip(V3, before_frame.ok_or(Stop::Other(V3))?)?;
        Ok(LayerStep::Below(Layer::Ethernet))
    }

    #[cold]
    fn l2tp_control(&mut self) -> Stop {
        let &[_, _, l0, l1] = match self.peek::<4>("L2TP control") {
            Ok(header) => header,
            Err(short) => return short,
        };
        let declared = usize::from(u16::from_be_bytes([l0, l1]));
        let avp = self
            .bytes
            .get(CONTROL_HEADER_LEN..)
            .and_then(<[u8]>::first_chunk::<MESSAGE_TYPE_AVP_LEN>);
        let message_type = match avp {
            // Nothing behind the header: a zero-length body, the acknowledgement (RFC 2661 §5.8).
            Some(&[_, _, 0, 0, 0, 0, t0, t1]) if declared >= CONTROL_HEADER_LEN + MESSAGE_TYPE_AVP_LEN => {
                Some(u16::from_be_bytes([t0, t1]))
            }
            _ => None,
        };
        Stop::Control(Control::L2tp(message_type))
    }
}
