"""The part of the corpus for shapes of text: framing, rows, padding, characters, containers, cut keys; see make_corpus.py."""

import datetime
import gzip
import struct

from corpus_formats import DERIVATION_ONLY, charon_excerpt, four_bytes
from make_nvr_log import charon_secrets, spaced, stamp

# What a router logs of PPP: it looks like a row of a key.
PPP = "c0 21 01 01 00 0e 01 04  05 ae 05 06 c0 7f 33 92"


def rows(digits, group=spaced, per_row=16):
    return [group(digits[i : i + 2 * per_row]) for i in range(0, len(digits), 2 * per_row)]


def value(label, digits, group=spaced, per_row=16):
    """A value whose first row stands behind its label and the others below."""
    first, *rest = rows(digits, group, per_row)
    return [f"{label}: {first}"] + [f"  {row}" for row in rest]


def messages(sa, group=spaced, per_row=16):
    return [f"SPI: {spaced(sa.spi)}"] + value("encryption key", sa.key, group, per_row) + value("authentication key", sa.auth, group, per_row)


def framing(lab, corpus):
    """Which rows go on with a value, whatever stands before them."""
    sas = lab.sas[:3]
    keys = [sa.expect(named=False) for sa in sas]
    t = [stamp(sa.created) for sa in sas]
    later = [stamp(sa.created + 23) for sa in sas]
    log = []
    for sa, at, dump in zip(sas, t, later):
        log += [f"{at}: [IKE] {m}" for m in messages(sa, per_row=20)] + [f"{dump}:   {PPP}", f"{dump}:   05 03 00 04"]
    corpus.add("nvr_dump_later_is_another_record", log, keys)
    log = []
    for sa, at in zip(sas, t):
        log += [f"{at}: [IKE] {m}" for m in messages(sa, per_row=20)]
        log += [f"{at}: PP[ANONYMOUS01] RECV LCP ConfReq in STARTING", f"{at}:   {PPP}"]
    corpus.add("nvr_dump_of_another_subsystem", log, keys)
    log = []
    for sa, at in zip(sas, t):
        log += [f"{at}: [IKE] {m}" if ":" in m else m for m in messages(sa)]
    corpus.add("nvr_rows_without_time_and_tag", log, keys)
    ike = [f"ike1 {lab.cookie} skeyid_d {lab.secrets['SKEYID_d']}", f"ike1 {lab.cookie} ka {lab.ka}"]
    phase1 = [f"I_COOKIE: {spaced(lab.cookie)}", f"IKE encryption key: {spaced(lab.ka)}", f"SKEYID_d: {spaced(lab.secrets['SKEYID_d'])}"]
    corpus.add("nvr_ppp_dump_after_skeyid", [f"{t[0]}: [IKE] {m}" for m in phase1] + [f"{later[0]}:   {PPP}"], ike + DERIVATION_ONLY)
    headers = {
        "rfc3164_program": "<15>Nov 20 20:11:53 192.168.100.1 rtlog[12]: ",
        "rfc5424_three_dashes": "<15>1 2026-11-20T20:11:53Z rt1 - - - ",
        "rfc5424_two_dashes": "<15>1 2026-11-20T20:11:53.1Z rt1 - - ",
        "rfc5424_program": "1 2026-11-20T20:11:53.123456+09:00 rt1 ike - - - ",
        "rfc5424_structured_data": '<15>1 2026-11-20T20:11:53Z rt1 ike 12 ID4 [a@1 b="c \\" ] d"][e@2 f="g"] ',
        "iso_time": "2026-11-20T20:11:53.123456+09:00 ",
        "iso_time_blank": "2026-11-20 20:11:53 ",
        "iso_time_zone": "2026-11-20 20:11:53,123 +0900 ",
        "iso_time_brackets": "[2026-11-20 20:11:53.123] ",
        "iso_time_and_words": "2026-11-20T20:11:53Z rt1 user.debug: ",
    }
    for name, header in headers.items():
        for tag in ("[IKE] ", ""):
            if name == "iso_time_and_words" and not tag:
                continue  # without a tag nothing tells the words from the message
            lines = [header + (tag if ":" in m else "") + m for sa in sas for m in messages(sa)]
            corpus.add(f"nvr_{name}{'' if tag else '_no_tag'}", lines, keys)
    ticks = []
    for n, (sa, at) in enumerate(zip(sas, t)):
        ticks += [f"2026-11-20T20:11:{53 + n}.{k}00Z rt1 {at}: [IKE] {m}" for k, m in enumerate(messages(sa))]
    corpus.add("nvr_collector_clock_goes_on", ticks, keys)


def hexadecimal(lab, corpus):
    sas = lab.sas[:3]
    keys = [sa.expect(named=False) for sa in sas]
    t = stamp(sas[0].created)

    def prefixed(digits):
        return "0x" + digits

    corpus.add("nvr_hex_0x_rows", [f"{t}: [IKE] {m}" for sa in sas for m in messages(sa, prefixed, 8)], keys)
    corpus.add("nvr_hex_0x_rows_below_the_label", [f"{t}: [IKE] {m}" for sa in sas for m in
               [f"SPI: {sa.spi}", f"KEYMAT:"] + [f"  {row}" for row in rows(sa.key + sa.auth, prefixed)]], keys)
    corpus.add("nvr_hex_0x_bytes", [f"{t}: [IKE] {m}" for sa in sas for m in
               messages(sa, lambda d: " ".join("0x" + d[i : i + 2] for i in range(0, len(d), 2)))], keys)
    lines = [f"{t}: [IKE] {m}" for sa in sas for m in messages(sa)]
    text = "".join(line + "\n" for line in lines).encode()
    corpus.add("nul_line_ends", text.replace(b"\n", b"\0\n"), keys)
    corpus.add("nul_padding", b"\0" * 512 + text.replace(b": ", b":\0 ").replace(b"\n", b"\n\0\0\0") + b"\0" * 512, keys)
    corpus.add("cr_only", text.replace(b"\n", b"\r"), keys)
    corpus.add("cr_and_lf_mixed", text.replace(b"\n", b"\r", 4) + text.replace(b"\n", b"\r\n"), keys)
    characters = text.decode().replace("\n", "\r\n")
    for name in ("utf-16-le", "utf-16-be"):
        corpus.add(name.replace("-", ""), characters.encode(name), keys)
        corpus.add(name.replace("-", "") + "_mark", ("\ufeff" + characters).encode(name), keys)
    corpus.add("container_gzip", gzip.compress(text, mtime=0), keys + ["unsupported-in-lua gzip"])
    # One frame, one raw block.
    frame = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(text)) + struct.pack("<I", 1 | len(text) << 3)[:3] + text
    corpus.add("container_zstd", frame, keys + ["unsupported-in-lua zstd"])
    corpus.add("bad_container_cut", gzip.compress(text, mtime=0)[:20], ["problem 0", "unsupported-in-lua gzip"])


def phase_1(lab, corpus):
    """Ka and SKEYID_d from two places of one log; secrets of perfect forward secrecy."""
    sas = lab.sas[:2]
    us, peer = sas[0].dst, sas[0].src
    skeyid_d = lab.secrets["SKEYID_d"]
    rule = "-" * 52
    ka = f"ike1 {lab.cookie} ka {lab.ka}"
    block = ["# show ipsec sa gateway 1 detail", "SA[1] Duration: 10675s", f"Local ID: {us}", f"Remote ID: {peer}", "Protocol: IKE",
             "Algorithm: AES-CBC, SHA-1, MODP 1024bit", "", f"SPI: {spaced(lab.cookie + lab.cookie_r)} ", f"Key: {spaced(lab.ka)} "]
    corpus.add("show_sa_key_and_skeyid_d_below", block + value("SKEYID_d", skeyid_d) + [rule],
               [ka, f"ike1 {lab.cookie} skeyid_d {skeyid_d}"] + DERIVATION_ONLY)
    t = stamp(sas[0].created)
    log = [f"{t}: [IKE] SA:1/INIT SKEYID_d: {spaced(skeyid_d)}"]
    corpus.add("show_sa_key_and_skeyid_d_logged", log + block + [rule], [ka, f"ike1 - skeyid_d {skeyid_d}"] + DERIVATION_ONLY)
    udp = [line.replace(f"{t}: ", "<15>") for line in log]
    corpus.add("show_sa_key_and_skeyid_d_udp", block + udp, [ka, f"ike1 - skeyid_d {skeyid_d}"] + DERIVATION_ONLY)
    both = [f"ike1 - ka {lab.ka}", f"ike1 - skeyid_d {skeyid_d}"]
    corpus.add("nvr_skeyid_d_and_key", [f"{t}: [IKE] SKEYID_d: {spaced(skeyid_d)}", f"{t}: [IKE] Key: {spaced(lab.ka)}"], both + DERIVATION_ONLY)
    corpus.add("nvr_key_and_skeyid_d", [f"{t}: [IKE] Key: {spaced(lab.ka)}", f"{t}: [IKE] SKEYID_d: {spaced(skeyid_d)}"], both + DERIVATION_ONLY)

    def table(key):
        lines = ["# show ipsec sa gateway 1 detail"]
        for n, sa in enumerate(sas):
            lines += [f"SA[{n + 2}] Duration: 1719s", f"Direction: {'send' if sa.src == us else 'receive'}", "Protocol: ESP (Mode: transport)",
                      "Algorithm: AES-CBC (for Auth.: HMAC-SHA)", f"SPI: {spaced(sa.spi)} "] + key(sa) + [rule]
        return lines

    keys = [sa.expect(named=False) for sa in sas]
    corpus.add("show_sa_key_for_auth", table(lambda sa: [f"Key: {spaced(sa.key)} (for Auth.: {spaced(sa.auth)})"]), keys)
    corpus.add("show_sa_key_for_auth_wrapped", table(lambda sa: [f"Key: {spaced(sa.key)}", f"     (for Auth.: {spaced(sa.auth[:32])}", f"     {spaced(sa.auth[32:])})"]), keys)
    corpus.add("nvr_key_for_auth", [f"{t}: [IKE] {m}" for sa in sas for m in (f"SPI: {spaced(sa.spi)}", f"Key: {spaced(sa.key)} (for Auth.: {spaced(sa.auth)})")],
               [sa.expect(named=False) for sa in sas])
    dumps = charon_secrets((lab.pfs / "charon.cli.log").read_text(errors="replace"))
    skeyid = {label: next(d for _, name, d in dumps if name == label) for label in ("SKEYID_d", "SKEYID_e")}
    log = [f"{t}: [IKE] SA:1/INIT {m}" for label in skeyid for m in value(label, skeyid[label])]
    secrets = []
    for sa in lab.pfs_sas[::2]:
        seed = next(d for _, label, d in dumps if label.endswith("SA seed") and "03" + sa.spi in d)
        secrets.append(seed[: seed.index("03" + sa.spi)])
        log += [f"{stamp(sa.created)}: [IKE] SA:2/IPSEC {m}" for m in value("DH shared secret", secrets[-1])]
    corpus.add("nvr_pfs_dh_shared_secret", log, [f"ike1 - {label.lower()} {digits}" for label, digits in skeyid.items()]
               + [f"seed secret - - {secret}" for secret in secrets] + DERIVATION_ONLY)


def lengths(lab, corpus):
    """Keys that are longer or shorter than usual, and keys of which a part is missing."""
    a, b = lab.sas[:2]
    names = [("HMAC-SHA-256-96 [draft-ietf-ipsec-ciph-sha-256-00]", "HMAC-SHA2-256-96", 16), ("HMAC-SHA-1-96 [RFC2404]", "HMAC-SHA1-96", 16),
             ("HMAC-SHA-1-96 [RFC2404]", "HMAC-SHA1-96", 24), ("HMAC-SHA-512-256 [RFC4868]", "HMAC-SHA2-512-256", 32)]
    stock = "".join(sa.auth for sa in lab.sas)
    table, expect = [], []
    for n, (name, shown, length) in enumerate(names):
        spi, key = f"0x{n + 1:08x}", stock[: 2 * length]
        table.append(a.row(spi=spi, integ=name, auth="0x" + key))
        expect += [" ".join(["esp", a.src, a.dst, spi, "AES-CBC", a.key, shown, key]), f"problem {n + 1}"]
    corpus.add("esp_sa_hmac_key_lengths", table, expect)
    null = a.row(enc="NULL", key="", integ="NULL", auth="")
    is_null = " ".join(["esp", a.src, a.dst, "0x" + a.spi, "NULL", "-", "none", "-"])
    corpus.add("esp_sa_null_twice", [null, null, a.row(enc="NULL", key="", integ="NULL", auth="", src="*")], [is_null])
    corpus.add("esp_sa_same_key_from_elsewhere", [a.row(), a.row(src="192.0.2.7")], [a.expect()])
    where, is_b = f"defect truncated {a.src} {a.dst} 0x{a.spi}", b.expect()
    corpus.add("bad_esp_sa_row_cut_in_a_key", (b.row() + "\n" + a.row()[: a.row().index(a.key) + 20]).encode(), [is_b, where, "problem 2"])
    t = stamp(a.created)
    short = [f"{t}: [IKE] SPI: {spaced(a.spi)}", f"{t}: [IKE] encryption key: {spaced(a.key)}", f"{t}: [IKE] authentication key: {spaced(a.auth[:26])}"]
    whole = [f"{t}: [IKE] SPI: {spaced(b.spi)}", f"{t}: [IKE] encryption key: {spaced(b.key)}", f"{t}: [IKE] authentication key: {spaced(b.auth)}"]
    corpus.add("bad_nvr_short_key", short + whole, [f"defect truncated - - 0x{a.spi}", "problem 2", b.expect(named=False)])
    v1 = charon_excerpt(lab.plain, "cli", 1, keep=r"\[CHD\]|established with SPIs|parsed QUICK_MODE")
    at = next(n for n, line in enumerate(v1) if "integrity responder key =>" in line)
    received = next(sa for sa in (a, b) if sa.auth.upper().startswith(v1[at + 1].split("0: ")[1][:47].replace(" ", "")))
    sent = b if received is a else a
    seeds = [f"seed {way} 0x{a.spi} 0x{b.spi} {next(d for _, label, d in charon_secrets(chr(10).join(v1)) if label == way + ' SA seed')}"
             for way in ("initiator", "responder")]
    gone = [line for n, line in enumerate(v1) if n != at + 2]
    corpus.add("bad_charon_key_lacks_a_row", gone, [f"defect truncated {received.src} {received.dst} 0x{received.spi}", f"problem {at + 1}", sent.expect()] + seeds)
    head = "2026-11-20 20:11:53: "
    racoon = [f"{head}DEBUG: KEYMAT compute with", f"{head}DEBUG: ", four_bytes("03" + a.spi + "00" * 40)[:80], f"{head}DEBUG: encklen=128 authklen=160",
              f"{head}DEBUG: ", four_bytes(a.key + a.auth[:16]), f"{head}DEBUG: KEYMAT computed."]
    corpus.add("bad_racoon_short_keymat", racoon, [f"defect truncated - - 0x{a.spi}", "problem 6", "unsupported-in-lua racoon"])
    pluto = [f"| kernel algorithm lookup for esp.{a.spi}@{a.dst}", f"| ESP encrypt key:  {spaced(a.key)}", f"| ESP integrity key:  {spaced(a.auth[:22])}"]
    corpus.add("bad_pluto_short_key", pluto, [f"defect truncated - {a.dst} 0x{a.spi}", "problem 2", "unsupported-in-lua pluto"])
    entry = [f" 0 HE spi=0x{a.spi.upper()} src-address={a.src} dst-address={a.dst} state=mature ", "      auth-algorithm=sha1 enc-algorithm=aes-cbc ",
             f'      auth-key="{a.auth[:-1]}" enc-key="{a.key}" ']
    corpus.add("bad_mikrotik_odd_digits", entry, [where, "problem 3", "unsupported-in-lua MikroTik"])


def add_all(lab, corpus):
    framing(lab, corpus)
    hexadecimal(lab, corpus)
    phase_1(lab, corpus)
    lengths(lab, corpus)
