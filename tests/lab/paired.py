"""Pairs of runs that differ in their rekeys alone: what they cost is the difference of the rates, and no analysis is needed for it."""

from dataclasses import replace

from limits import tapped
from variants import IKEV2, Side, Variant


def tight(soft, room=40_000):
    """The old SA ends 30 packets after the request for a new one, or whatever goes into the room."""
    return Side(soft, soft + room)


def pfs(group):
    """Public values of this group are computed while the old SA runs out."""
    return {"esp_proposal": f"aes128-sha1-modp{group}"}


def gcm(group):
    return {**IKEV2, "esp_proposal": f"aes128gcm16-modp{group}"}


def path(mbits, round_trip, seconds=20):
    return {"rate": f"{mbits}mbit", "delay_ms": round_trip / 2, "seconds": seconds}


# The run with rekeys of each pair; the other one has no limits, no events and loses no messages.
PAIRS = {
    "plain": Variant("IKEv1 without PFS; the old SA ends a few packets after the request", client=tight(2_000_000, 10_000), **path(10, 20)),
    "nat": Variant("IKEv1 behind a NAT, PFS 3072", client=tight(2_000_000), nat=True, **pfs(3072), **path(10, 20)),
    "pfs": Variant("IKEv1, PFS 4096", client=tight(2_000_000), **pfs(4096), **path(10, 20)),
    "pfs_up": Variant("the same; the client sends", client=tight(2_000_000), direction="up", **pfs(4096), **path(10, 20)),
    "rtt_60": Variant("IKEv1, PFS 4096", client=tight(5_000_000), **pfs(4096), **path(20, 60)),
    "rtt_60_nat_up": Variant("IKEv1 behind a NAT, PFS 6144; the client sends", client=tight(5_000_000), nat=True, direction="up",
                             **pfs(6144), **path(20, 60)),
    "rtt_150": Variant("IKEv1, PFS 4096", client=tight(3_000_000), **pfs(4096), **path(10, 150, 26)),
    "rtt_150_up": Variant("IKEv2, AES-GCM, PFS 4096; the client sends", client=tight(6_000_000), direction="up", **gcm(4096),
                          **path(20, 150, 26)),
    "gcm": Variant("IKEv2, AES-GCM, PFS 4096", client=tight(2_000_000), **gcm(4096), **path(10, 20)),
    "gcm_40": Variant("IKEv2, AES-GCM, PFS 4096", client=tight(10_000_000), **gcm(4096), **path(40, 60)),
    "fast": Variant("IKEv1, PFS 4096", client=tight(10_000_000), **pfs(4096), **path(40, 20)),
    "window": Variant("IKEv1, PFS 4096, a window of 64 kB", client=tight(2_000_000), iperf=("-w", "64K"), **pfs(4096), **path(40, 60)),
    "first_lost": Variant("IKEv1; the first message of each rekey is lost once, and the SA ends before its second copy",
                          client=tight(5_000_000, 1_000_000), drop_message=1, retransmit_s=1.0, **path(20, 20)),
    "third_lost": Variant("IKEv1; the third message of each rekey is lost once: the initiator sends on an SA that the responder lacks",
                          client=Side(5_000_000, 50_000_000), drop_message=3, retransmit_s=1.0, **path(20, 20)),
    "harmless": Variant("IKEv1, a volume with room to spare", client=Side(4_000_000, 9_000_000), **path(20, 60)),
    "harmless_time": Variant("IKEv2, AES-GCM; a rekey every two seconds", events=tuple((at, "rekey") for at in range(2, 20, 2)),
                             **gcm(2048), **path(10, 20)),
}
REPETITIONS = 3
# Captured at the client, where its own messages are still in the capture.
AT_CLIENT = {"first_lost", "third_lost"}


def captured(name, variant):
    """Congestion control named, tcpdump at the server but for a few."""
    sender = "client" if variant.direction == "up" else "server"
    end = "client" if name in AT_CLIENT else "server"
    return tapped(variant, at_sender=sender == end)


PAIRED = {
    f"pair_{name}_{which}": captured(name, run)
    for name, variant in PAIRS.items()
    for which, run in (("with", variant), ("without", replace(variant, client=Side(), events=(), drop_message=0)))
}
