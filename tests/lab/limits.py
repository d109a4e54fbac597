"""What else than a rekey limits a transfer, planted: the runs of docs/evidence/account-validation.md, each captured at the sender's
end (…_s) and at the receiver's (…_r)."""

from dataclasses import replace

from variants import HARD, SOFT, Side, Variant


def window(side, *sizes):
    """The kernel of this side opens its receive window to about half of the last of these bytes."""
    return side, f"net.ipv4.tcp_rmem=4096 {sizes[0]} {sizes[-1]}"


# A window of 64 kB over 40 ms is 13 Mbit/s.
FAR = {"rate": "30mbit", "delay_ms": 20.0, "seconds": 20}
SMALL = 131_072
NARROW = {**FAR, "sysctls": (window("client", SMALL),)}
# Renewed every few seconds, with room to spare.
ROOMY = Side(5_000_000, 9_000_000)
# The first message of each renewal is lost, and the hard limit comes before its second copy.
LATE = {"client": Side(5_000_000, 6_000_000), "drop_message": 1}

BOTH_ENDS = {
    "window": Variant("a window of 64 kB over 40 ms", client=ROOMY, **NARROW),
    "window_late": Variant("the same; rekeys that hurt", **{**NARROW, **LATE, "seconds": 30}),
    "window_up": Variant(
        "the same without harm; the client sends",
        client=ROOMY,
        direction="up",
        **{**FAR, "sysctls": (window("server", SMALL),)},
    ),
    "sndbuf": Variant(
        "a send buffer of 64 kB over 40 ms", client=ROOMY, **FAR, sysctls=(("server", "net.ipv4.tcp_wmem=4096 16384 65536"),)
    ),
    "burst": Variant(
        "the application writes 256 kB every half second", client=ROOMY, **FAR, iperf=("-b", "4M/32"),
    ),
    "slow": Variant("the application writes 3 Mbit/s", client=Side(SOFT, HARD), **FAR, iperf=("-b", "3M")),
    "zero": Variant(
        "the receiver stops reading, three times for two seconds",
        client=ROOMY,
        **NARROW,
        events=tuple(event for at in (4, 9, 14) for event in ((at, "stop_reading"), (at + 2, "read_on"))),
    ),
    "loss": Variant("1 % of the frames lost", client=ROOMY, **{**FAR, "rate": "20mbit"}, loss=0.01),
    "capacity": Variant("nothing but the rate of the link", client=ROOMY, seconds=18),
    "queue": Variant("a queue of 10 ms before the link", client=ROOMY, **{**FAR, "rate": "12mbit"}, queue_ms=10),
    "overtaken": Variant(
        "2 % of the frames come 30 ms late, and a sender that knows no way to tell that from loss",
        client=ROOMY,
        **{**FAR, "rate": "20mbit"},
        overtaken=0.02,
        overtaken_ms=30.0,
        sysctls=tuple((side, f"net.ipv4.tcp_{name}") for side in ("client", "server")
                      for name in ("recovery=0", "dsack=0", "timestamps=0", "max_reordering=3")),
    ),
    "mixed": Variant(
        "0.3 % of the frames lost, rekeys that hurt, a window of 48 kB in the first half",
        **{**LATE, "client": Side(4_000_000, 5_000_000)},
        **{**FAR, "rate": "20mbit", "delay_ms": 15.0, "seconds": 26},
        loss=0.003,
        sysctls=(window("client", 98_304),),
        events=((13, "sysctl", "client", "net.ipv4.tcp_rmem=4096 131072 6291456"),),
    ),
    "two": Variant("two connections, each with a window of 64 kB", client=ROOMY, **NARROW, iperf=("-P", "2")),
    "ways": Variant("both directions at once; windows of 64 kB", client=ROOMY, direction="both",
                    **{**FAR, "sysctls": (window("client", SMALL), window("server", SMALL))}),
    # Reno: CUBIC ends its slow start early where round trips vary.
    "growth": Variant("four seconds, 400 ms of round trip", **{**FAR, "delay_ms": 200.0, "seconds": 4}, iperf=("-C", "reno")),
    "unanswered": Variant(
        "all IKE is lost for ten seconds; the SA dies meanwhile",
        client=Side(5_000_000, 7_000_000),
        retransmit_s=1.0,
        events=((2, "lose_ike"), (12, "pass_ike")),
        **{**NARROW, "seconds": 24},
    ),
    "blackhole": Variant(
        "the receiver's inbound SA swallows everything for five seconds",
        events=((4, "rekey"), (7, "blackhole"), (12, "rekey")),
        **NARROW,
    ),
    "udp": Variant("UDP; rekeys that hurt", write="1200", iperf=("-u", "-b", "7M"), client=Side(SOFT, SOFT + 40_000), seconds=20,
                   esp_proposal="aes128-sha1-modp6144"),
}

# Without a factor that another run has (`PAIRS`).
WITHOUT = {
    "plain": Variant("30 Mbit/s over 40 ms, nothing planted", **FAR),
    "window_alone": Variant("a window of 64 kB over 40 ms, no rekeys", **NARROW),
    "plain_20": Variant("20 Mbit/s over 40 ms, nothing planted", **{**FAR, "rate": "20mbit"}),
    "loss_alone": Variant("1 % of the frames lost, no rekeys", **{**FAR, "rate": "20mbit"}, loss=0.01),
    "late": Variant("rekeys that hurt, nothing else", **{**FAR, **LATE, "rate": "20mbit", "seconds": 30}),
}

# The labels that have to get the greater part of the time, together.
PLANTED = {
    **dict.fromkeys(("window", "window_up", "window_alone", "two", "ways"), ("receive_window",)),
    "sndbuf": ("send_buffer",), "burst": ("application",), "slow": ("application",), "zero": ("zero_window", "receive_window"),
    "loss": ("path_loss",), "loss_alone": ("path_loss",), "capacity": ("capacity",), "plain": ("capacity",),
    "plain_20": ("capacity",), "queue": ("queue_loss", "capacity"), "overtaken": ("reordering",), "growth": ("growth",),
    "unanswered": ("tunnel_down", "rekey"), "late": ("rekey", "tunnel_down"),
}

# (with the factor, without it, the factor's labels).
PAIRS = (
    ("window_alone", "plain", ("receive_window",)),
    ("window", "plain", ("receive_window",)),
    ("window_late", "window_alone", ("rekey", "tunnel_down")),
    ("late", "plain_20", ("rekey", "tunnel_down")),
    ("loss_alone", "plain_20", ("path_loss", "queue_loss", "reordering")),
    ("loss", "plain_20", ("path_loss", "queue_loss", "reordering")),
)


def tapped(variant, at_sender):
    """The variant with tcpdump at one end; of transfers in both directions the server's is the sender.

    Hosts differ in their congestion control. Where a sender paces (BBR, or CUBIC on a socket that began with BBR) the kernel counts
    its waits for the window as pacing; CUBIC may be no namespace's default. So both are named.
    """
    sender, other = ("client", "server") if variant.direction == "up" else ("server", "client")
    first = tuple((side, "net.ipv4.tcp_congestion_control=reno") for side in ("server", "client"))
    control = () if {"-u", "-C"} & set(variant.iperf) else ("-C", "cubic")
    return replace(variant, captured_at=sender if at_sender else other, iperf=control + variant.iperf,
                   sysctls=first + variant.sysctls)


LIMITS = {
    f"account_{name}_{end}": tapped(variant, end == "s")
    for name, variant in {**BOTH_ENDS, **WITHOUT}.items()
    for end in "sr"
}
