"""What can be planted. Volumes are bytes of decrypted payload (libipsec counts inner packets), times seconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Side:
    """Limits that one side applies to its child SAs; 0 means none."""

    soft_bytes: int = 0
    hard_bytes: int = 0


@dataclass(frozen=True)
class Variant:
    """One run. The client always initiates the first SAs."""

    about: str
    ike: int = 1
    ike_proposal: str = "aes128-sha1-modp1024"
    esp_proposal: str = "aes128-sha1"
    client: Side = Side()
    server: Side = Side()
    seconds: int = 16
    rate: str = "10mbit"
    # One way, milliseconds.
    delay_ms: float = 10.0
    jitter_ms: float = 0.0
    # Share of the frames that the wire loses, each way.
    loss: float = 0.0
    # The message of every child exchange after the first that is lost once, counted from 1; 0 for none.
    drop_message: int = 0
    # The end of the cable at which tcpdump listens: a planted loss of the client's messages happens before the server's.
    captured_at: str = "server"
    # iperf3's direction: "down" (server to client), "up", "both".
    direction: str = "down"
    # Arguments for iperf3 besides, such as an application's own limit.
    iperf: tuple = ()
    # Checks skip what no log tells: the run is for looking at.
    by_hand: bool = False


SOFT = 2_000_000
HARD = 2_400_000
# The soft limit plus 30 packets: reached while the peers still compute.
TIGHT = Side(SOFT, SOFT + 40_000)
VOLUME = Side(SOFT, HARD)

VARIANTS = {
    "no_rekey": Variant("no limits: nothing to renew"),
    "volume": Variant("a volume lifetime with room to spare", client=VOLUME),
    "tight_slow_dh": Variant(
        "a hard limit just above the soft one, and a group whose public values take long",
        esp_proposal="aes128-sha1-modp6144",
        client=TIGHT,
        seconds=24,
    ),
    "drop_first": Variant(
        "the first message of each renewal is lost once, behind the capture",
        client=VOLUME,
        drop_message=1,
        seconds=30,
        captured_at="client",
    ),
    "drop_first_unseen": Variant(
        "the same, before the capture: only the second copy is in it", client=VOLUME, drop_message=1, seconds=30
    ),
    "drop_first_generous": Variant(
        "the same where the hard limit leaves time for a second attempt",
        client=Side(SOFT, 12_000_000),
        drop_message=1,
        seconds=30,
        captured_at="client",
    ),
    "drop_third": Variant(
        "the third Quick Mode message is lost once: the responder does not install its SAs",
        client=Side(SOFT, 24_000_000),
        drop_message=3,
        seconds=30,
        captured_at="client",
    ),
    "ikev2_gcm": Variant(
        "IKEv2, AES-GCM, a volume lifetime",
        ike=2,
        ike_proposal="aes128gcm16-prfsha256-modp2048",
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
    ),
    "ikev2_tight": Variant(
        "IKEv2 with a hard limit just above the soft one and slow public values",
        ike=2,
        ike_proposal="aes128gcm16-prfsha256-modp2048",
        esp_proposal="aes128gcm16-modp8192",
        client=TIGHT,
        seconds=20,
    ),
    "ikev2_drop_request": Variant(
        "the CREATE_CHILD_SA request is lost once",
        ike=2,
        ike_proposal="aes128gcm16-prfsha256-modp2048",
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
        drop_message=1,
        seconds=30,
        captured_at="client",
    ),
    "ikev2_drop_request_unseen": Variant(
        "the same, before the capture: only the second copy is in it",
        ike=2,
        ike_proposal="aes128gcm16-prfsha256-modp2048",
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
        drop_message=1,
        seconds=30,
    ),
    "upload": Variant("the client sends; its outbound SA expires", client=VOLUME, direction="up"),
    "both_directions": Variant("both directions at once", client=VOLUME, direction="both"),
    "rtt_150": Variant("a round trip of 150 ms", client=Side(8_000_000, 12_000_000), delay_ms=75.0, seconds=60),
    "rtt_150_tight": Variant(
        "a round trip of 150 ms and a tight hard limit",
        esp_proposal="aes128-sha1-modp4096",
        client=Side(8_000_000, 8_100_000),
        delay_ms=75.0,
        seconds=60,
    ),
    "loss": Variant("0.5 % of the frames lost", client=VOLUME, loss=0.005, seconds=24),
    "collision": Variant("both sides renew at the same volume", client=VOLUME, server=VOLUME, by_hand=True),
    "ikev2_collision": Variant(
        "IKEv2, both sides renew at the same volume",
        ike=2,
        ike_proposal="aes128gcm16-prfsha256-modp2048",
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
        server=VOLUME,
        by_hand=True,
    ),
    "full_lifetime": Variant(
        "Windows' 250,000 kB at 60 Mbit/s",
        client=Side(208_000_000, 250_000_000),
        rate="60mbit",
        delay_ms=2.0,
        seconds=120,
        by_hand=True,
    ),
    "quiet_plain": Variant("no rekey, long", seconds=90),
    "quiet_jitter": Variant("no rekey, long; the round trip varies", seconds=90, jitter_ms=8.0),
    "quiet_loss": Variant("no rekey, long; 0.1 % of the frames lost", seconds=90, loss=0.001),
    "quiet_paced": Variant("no rekey, long; the application sends 6 Mbit/s", seconds=90, iperf=("-b", "6M")),
}
