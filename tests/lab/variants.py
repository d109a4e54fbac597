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
    # What the queue before the cable holds, milliseconds at its rate; more is dropped.
    queue_ms: int = 60
    # Share of the frames that the wire loses, each way.
    loss: float = 0.0
    # Share of the frames that come late, out of their order, and by how many milliseconds.
    overtaken: float = 0.0
    overtaken_ms: float = 0.0
    # The client is behind a NAT, which gives it another address and other ports.
    nat: bool = False
    # (side, "name=value") of its kernel, before the daemons start.
    sysctls: tuple = ()
    # The message of every child exchange after the first that is lost once, counted from 1; 0 for none.
    drop_message: int = 0
    # The end of the cable at which tcpdump listens: a planted loss of the client's messages happens before the server's.
    captured_at: str = "server"
    # iperf3's direction: "down" (server to client), "up", "both".
    direction: str = "down"
    # Bytes that iperf3 writes at once; of UDP the datagrams.
    write: str = "8K"
    # Arguments for iperf3 besides, such as an application's own limit.
    iperf: tuple = ()
    # A further transfer after each of these rests, seconds.
    rests: tuple = ()
    # What the server proposes where it differs from the client.
    server_esp_proposal: str = ""
    # Dead peer detection after so many seconds of silence; 0 for none.
    dpd_s: int = 0
    # Seconds until strongSwan repeats a request; each further wait is 1.8 times as long.
    retransmit_s: float = 4.0
    # (when, action, arguments …): seconds since the first transfer began, or "rekey N" for the client's N-th renewal, and a
    # method of events.py. They come in this order.
    events: tuple = ()
    # Nothing passes any more when the run ends: iperf3 has to be interrupted.
    ends_dead: bool = False
    # Checks skip what no log tells: the run is for looking at.
    by_hand: bool = False


IKEV2 = {"ike": 2, "ike_proposal": "aes128gcm16-prfsha256-modp2048"}
SOFT = 2_000_000
HARD = 2_400_000
# The soft limit plus 30 packets: reached while the peers still compute.
TIGHT = Side(SOFT, SOFT + 40_000)
VOLUME = Side(SOFT, HARD)
# A single SA that lasts for seconds: what fails is its first renewal.
ONCE = Side(4_000_000, 6_000_000)
UDP = {"write": "1200", "iperf": ("-u", "-b", "7M")}

SUCCEEDING = {
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
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
    ),
    "ikev2_tight": Variant(
        "IKEv2 with a hard limit just above the soft one and slow public values",
        **IKEV2,
        esp_proposal="aes128gcm16-modp8192",
        client=TIGHT,
        seconds=20,
    ),
    "ikev2_drop_request": Variant(
        "the CREATE_CHILD_SA request is lost once",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
        drop_message=1,
        seconds=30,
        captured_at="client",
    ),
    "ikev2_drop_request_unseen": Variant(
        "the same, before the capture: only the second copy is in it",
        **IKEV2,
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
        **IKEV2,
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

FAILING = {
    "refused_pfs": Variant(
        "the server no longer accepts PFS",
        esp_proposal="aes128-sha1-modp2048",
        client=ONCE,
        events=((2, "server_proposes", "aes128-sha1"),),
        ends_dead=True,
    ),
    "refused_pfs_once": Variant(
        "the same, until the server accepts it again and the client asks again",
        esp_proposal="aes128-sha1-modp2048",
        client=ONCE,
        events=((2, "server_proposes", "aes128-sha1"), (9, "server_proposes", "aes128-sha1-modp2048"), (9.2, "initiate")),
        seconds=18,
    ),
    "refused_proposal": Variant(
        "the server wants another cipher",
        client=ONCE,
        events=((2, "server_proposes", "aes256-sha256"),),
        ends_dead=True,
    ),
    "refused_ts": Variant(
        "the server renews for another host only", client=ONCE, events=((2, "server_protects", "10.66.0.77/32"),), ends_dead=True
    ),
    "ikev2_refused_pfs": Variant(
        "the client renews with PFS, and the server has none",
        **IKEV2,
        esp_proposal="aes128-sha256-modp2048",
        server_esp_proposal="aes128-sha256",
        client=ONCE,
        ends_dead=True,
    ),
    "ikev2_refused_other": Variant(
        "a further SA for hosts that the server does not protect, beside renewals that succeed",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
        events=((3.5, "initiate", "other"),),
    ),
    "ikev2_other_group": Variant(
        "the first group offered is not the server's: INVALID_KE_PAYLOAD, then another request",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048-modp3072",
        server_esp_proposal="aes128gcm16-modp3072",
        client=VOLUME,
    ),
    "ike_lost": Variant(
        "all IKE is lost from the 2nd second on",
        client=ONCE,
        retransmit_s=1.0,
        events=((2, "lose_ike"),),
        captured_at="client",
        seconds=22,
        ends_dead=True,
    ),
    "ike_lost_a_while": Variant(
        "all IKE is lost for ten seconds",
        client=ONCE,
        retransmit_s=1.0,
        events=((2, "lose_ike"), (12, "pass_ike")),
        captured_at="client",
        seconds=24,
    ),
    "ike_lost_unseen": Variant(
        "all IKE is lost before the capture: nobody asks, as far as it shows",
        client=ONCE,
        retransmit_s=1.0,
        events=((2, "lose_ike"),),
        seconds=14,
        ends_dead=True,
    ),
    "ikev2_ike_lost": Variant(
        "IKEv2, all IKE is lost from the 2nd second on",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        client=ONCE,
        retransmit_s=1.0,
        events=((2, "lose_ike"),),
        captured_at="client",
        seconds=22,
        ends_dead=True,
    ),
    "ikev2_ike_lost_a_while": Variant(
        "IKEv2, all IKE is lost for ten seconds",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        client=ONCE,
        retransmit_s=1.0,
        events=((2, "lose_ike"), (12, "pass_ike")),
        captured_at="client",
        seconds=24,
    ),
    "limit_without_rekey": Variant("a hard limit and no soft one", client=Side(0, 5_000_000), seconds=14, ends_dead=True),
    "limit_without_rekey_up": Variant(
        "the same; the client sends, and asks for new SAs five seconds later",
        client=Side(0, 5_000_000),
        direction="up",
        events=((9.5, "initiate"),),
        seconds=18,
        ends_dead=True,
    ),
    "break_before_make": Variant(
        "the client deletes its SAs and asks for new ones half a second later, three times",
        events=tuple(event for at in (3, 7, 11) for event in ((at, "terminate"), (at + 0.5, "initiate"))),
    ),
    "ikev2_break_before_make": Variant(
        "the same with IKEv2",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        events=tuple(event for at in (3, 7, 11) for event in ((at, "terminate"), (at + 0.5, "initiate"))),
    ),
    "ikev2_reauth": Variant(
        "IKEv2 authenticates anew: the IKE SA goes first, with its children",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        events=((4, "reauthenticate"), (9, "reauthenticate")),
    ),
    "blackhole": Variant(
        "the client's inbound SA swallows everything from the 7th second on, until the next renewal",
        events=((4, "rekey"), (7, "blackhole"), (12, "rekey")),
        seconds=18,
    ),
    "ikev2_blackhole": Variant(
        "the same with IKEv2",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        events=((4, "rekey"), (7, "blackhole"), (12, "rekey")),
        seconds=18,
    ),
    "blackhole_up": Variant(
        "the same on the server's side; the client sends",
        direction="up",
        captured_at="client",
        events=((4, "rekey"), (7, "blackhole"), (12, "rekey")),
        seconds=18,
    ),
    "peer_killed": Variant(
        "the server's daemon dies; the client asks whether it lives",
        client=VOLUME,
        dpd_s=1,
        events=((6.3, "kill_server"),),
        seconds=16,
        ends_dead=True,
    ),
    "ikev2_peer_killed": Variant(
        "the same with IKEv2",
        **IKEV2,
        esp_proposal="aes128gcm16-modp2048",
        client=VOLUME,
        dpd_s=1,
        retransmit_s=1.0,
        events=((6.3, "kill_server"),),
        seconds=16,
        ends_dead=True,
    ),
    "udp_tight": Variant(
        "UDP; a hard limit just above the soft one, and slow public values",
        **UDP,
        esp_proposal="aes128-sha1-modp6144",
        client=TIGHT,
        seconds=24,
    ),
    "udp": Variant("UDP, a volume lifetime with room to spare", **UDP, client=VOLUME),
}

PAUSING = {
    "stopped": Variant(
        "the sender is stopped for a second, between two renewals",
        client=Side(5_000_000, 6_000_000),
        iperf=("-w", "128K"),
        events=((2.2, "stop"), (3.2, "go_on"), (8.5, "stop"), (9.5, "go_on")),
        seconds=20,
    ),
    "stopped_at_rekey": Variant(
        "the sender is stopped for a second as a renewal begins",
        client=VOLUME,
        iperf=("-w", "128K"),
        events=(("rekey 3", "stop"), (1.0, "go_on"), ("rekey 6", "stop"), (1.0, "go_on")),
        seconds=20,
    ),
    "window": Variant("a window of 64 kB over 40 ms", client=Side(5_000_000, 7_000_000), rate="40mbit", delay_ms=20.0,
                      iperf=("-w", "64K"), seconds=30),
    "window_150": Variant("a window of 64 kB over 150 ms", client=Side(1_600_000, 2_400_000), delay_ms=75.0,
                          iperf=("-w", "64K"), seconds=40),
    "rest_3": Variant("two transfers, three seconds of rest between them", client=VOLUME, rests=(3,), seconds=11),
    "rest_10": Variant("two transfers, ten seconds of rest between them", client=VOLUME, rests=(10,), seconds=11),
    "rest_tight": Variant(
        "the same with hard limits reached", esp_proposal="aes128-sha1-modp6144", client=TIGHT, rests=(5,), seconds=12
    ),
}

VARIANTS = {**SUCCEEDING, **FAILING, **PAUSING}
