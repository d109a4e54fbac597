//! L2TPv2 (RFC 2661 §3.1, §3.2), L2TPv3 (RFC 3931 §4.1) with Ethernet inside (RFC 4719), and PPP (RFC 1661, framing of
//! RFC 1662 §3.1).

use super::{Control, Layer, Layers, Step, Walk};

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

impl Walk<'_> {
    /// Whether the version field is one of L2TP's: 2 in RFC 2661, 3 in RFC 3931. Where the prefix ends before it, the
    /// port has to do.
    pub(super) fn looks_like_l2tp(&self) -> bool {
        match self.peek::<2>() {
            Some([_, low]) => matches!(low & 15, 2 | 3),
            None => self.len >= 2,
        }
    }

    pub(super) fn l2tp(&mut self) -> Step {
        self.inner.layers = self.inner.layers.with(Layers::L2TP);
        let flags = u16::from_be_bytes(*self.peek::<2>().ok_or("L2TP")?);
        if flags & CONTROL != 0 {
            return self.l2tp_control();
        }
        if flags & 15 != 2 {
            // RFC 3931 §4.1.2.1: version, reserved, then as over IP.
            self.skip(4).ok_or("L2TPv3")?;
            return self.l2tpv3();
        }
        if flags & LENGTH != 0 {
            let &[_, _, l0, l1] = self.peek::<4>().ok_or("L2TP")?;
            self.cut_to(usize::from(u16::from_be_bytes([l0, l1])));
        }
        let optional = |flag: u16, len: usize| if flags & flag != 0 { len } else { 0 };
        // Flags, length, tunnel and session, Ns and Nr.
        self.skip(2 + optional(LENGTH, 2) + 4 + optional(SEQUENCE, 4))
            .ok_or("L2TP")?;
        if flags & OFFSET != 0 {
            let pad = u16::from_be_bytes(*self.take::<2>().ok_or("L2TP")?);
            self.skip(usize::from(pad)).ok_or("L2TP")?;
        }
        Ok(Some(Layer::Ppp))
    }

    /// From the session ID on. The lengths of cookie and sublayer are negotiated and not on the wire, and neither is what
    /// is inside: an Ethernet frame is taken for one when a choice of lengths makes sense of it. (The smallest: four
    /// bytes more make sense too when they pass over a VLAN tag.)
    pub(super) fn l2tpv3(&mut self) -> Step {
        self.inner.layers = self.inner.layers.with(Layers::L2TP);
        let session = u32::from_be_bytes(*self.take::<4>().ok_or("L2TPv3")?);
        if session == 0 {
            self.inner.control = Some(Control::L2tp(None));
            return Err("L2TP control");
        }
        let before_frame = [0, 4, 8, 12]
            .into_iter()
            .find(|len| self.is_ethernet_at(*len))
            .ok_or("L2TPv3")?;
        self.skip(before_frame).ok_or("L2TPv3")?;
        Ok(Some(Layer::Ethernet))
    }

    /// An IP packet that ends where the frame does, or before its padding to the smallest frame (IEEE 802.3: 60 bytes).
    fn is_ethernet_at(&self, offset: usize) -> bool {
        const HEADER_LEN: usize = 14;
        const SMALLEST_FRAME: usize = 60;
        let frame_len = self.len.saturating_sub(offset);
        let packet = match self.bytes.get(offset + 12..) {
            Some([0x81, 0, _, _, rest @ ..] | rest) => rest,
            None => return false,
        };
        let tag_len = if self.bytes.get(offset + 12..offset + 14) == Some(&[0x81, 0]) {
            4
        } else {
            0
        };
        let ip_len = match *packet {
            [0x08, 0x00, 0x45..0x50, _, l0, l1, ..] => usize::from(u16::from_be_bytes([l0, l1])),
            [0x86, 0xdd, 0x60..0x70, _, _, _, l0, l1, ..] => usize::from(u16::from_be_bytes([l0, l1])) + 40,
            [0x08, 0x06, 0x00, 0x01, 0x08, 0x00, ..] => 28,
            _ => return false,
        };
        let used = HEADER_LEN + tag_len + ip_len;
        used == frame_len || used < frame_len && frame_len <= SMALLEST_FRAME
    }

    fn l2tp_control(&mut self) -> Step {
        let &[_, _, l0, l1] = self.peek::<4>().ok_or("L2TP control")?;
        let declared = usize::from(u16::from_be_bytes([l0, l1]));
        self.cut_to(declared);
        self.inner.control = Some(Control::L2tp(None));
        // Nothing behind the header: a zero-length body, the acknowledgement (RFC 2661 §5.8).
        if declared >= CONTROL_HEADER_LEN + MESSAGE_TYPE_AVP_LEN
            && let Some(()) = self.skip(CONTROL_HEADER_LEN)
            && let Some(&[_, _, 0, 0, 0, 0, t0, t1]) = self.peek::<8>()
        {
            self.inner.control = Some(Control::L2tp(Some(u16::from_be_bytes([t0, t1]))));
        }
        Err("L2TP control")
    }

    pub(super) fn ppp(&mut self) -> Step {
        self.descend(Layers::PPP)?;
        // Address and control field, unless compressed away (ACFC).
        if let Some([0xff, 0x03]) = self.peek::<2>() {
            self.skip(2).ok_or("PPP")?;
        }
        let protocol = match *self.peek::<1>().ok_or("PPP")? {
            // PFC: the last byte of a protocol number is odd, the others are even (RFC 1661 §2).
            [low] if low & 1 == 1 => {
                self.skip(1).ok_or("PPP")?;
                u16::from(low)
            }
            _ => u16::from_be_bytes(*self.take::<2>().ok_or("PPP")?),
        };
        match protocol {
            0x0021 | 0x0057 => {
                self.note_ip_in_ppp();
                self.ip_by_version()
            }
            // BCP: flags and MAC type, then the frame (RFC 3518 §4.2).
            0x0031 => self.skip(2).map(|()| Some(Layer::Ethernet)).ok_or("PPP bridging"),
            0x003d => Err("PPP multilink"),
            0x002d | 0x002f => Err("PPP Van Jacobson compression"),
            0x0053 => Err("PPP encryption"),
            0x00fd | 0x00fb => Err("PPP compression or MPPE"),
            0x8000.. => self.ppp_control(protocol),
            _ => Err("PPP"),
        }
    }

    fn ppp_control(&mut self, protocol: u16) -> Step {
        let &[code] = self.peek::<1>().ok_or("PPP control")?;
        self.inner.control = Some(Control::Ppp { protocol, code });
        Err("PPP control")
    }
}
