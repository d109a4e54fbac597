"""The part of the corpus for IKE daemons and other systems; see make_corpus.py."""

import re

from make_nvr_log import charon_secrets, spaced

# For logs from which only a derivation gives ESP keys.
DERIVATION_ONLY = ["unsupported-in-lua derivation"]


def charon_excerpt(folder, side, children, keep=r"\[(IKE|CHD|MGR|KNL|CFG)\]|parsed [A-Z_0-9]+ re"):
    """Lines of a lab log up to the `children`-th CHILD_SA, without the message parser's."""
    lines, seen = [], 0
    for line in (folder / f"charon.{side}.log").read_text(errors="replace").splitlines():
        if re.search(keep, line) and "[CFG]   " not in line and "HASH_" not in line:
            lines.append(line)
        if re.search(r" \d\d\[IKE\] (inbound )?CHILD_SA \S+ established with SPIs", line):
            seen += 1
            if seen == children:
                return lines
    return lines


def charon_expect(lines, sas, cookie, version):
    """ESP rows from the ground truth; secrets and seeds from the dumps themselves."""
    by_spi = {sa.spi: sa for sa in sas}
    text = "\n".join(lines)
    spis = re.findall(r"CHILD_SA \S+ established with SPIs (\w{8})_i (\w{8})_o", text)
    expect = [by_spi[spi].expect() for pair in spis for spi in pair]
    names = {
        "SKEYID": "skeyid", "SKEYID_d": "skeyid_d", "SKEYID_a": "skeyid_a", "SKEYID_e": "skeyid_e", "encryption key Ka": "ka",
        "shared Diffie Hellman secret": "dh_secret", "SKEYSEED": "skeyseed", "Sk_d secret": "sk_d", "Sk_ei secret": "sk_ei",
        "Sk_er secret": "sk_er",
    }
    seeds = {"initiator SA seed": 0, "responder SA seed": 0, "seed": 0}
    ways = {"initiator SA seed": "initiator", "responder SA seed": "responder", "seed": "child"}
    for _, label, digits in charon_secrets(text):
        if label in names:
            expect.append(f"ike{version} {cookie} {names[label]} {digits}")
        if label in seeds and seeds[label] < len(spis):
            inbound, outbound = spis[seeds[label]]
            expect.append(f"seed {ways[label]} 0x{inbound} 0x{outbound} {digits}")
            seeds[label] += 1
    return expect


def charon(lab, corpus):
    v1 = charon_excerpt(lab.plain, "cli", 2)
    expect = charon_expect(v1, lab.sas, lab.cookie, 1)
    corpus.add("charon_ikev1", v1, expect)
    corpus.add("charon_ikev1_twice_crlf", v1 + v1, expect, "\r\n")
    corpus.add("charon_lines_twice", [line for line in v1 for line in (line, line)], expect)
    srv = charon_excerpt(lab.plain, "srv", 2)
    corpus.add("charon_ikev1_responder", srv, charon_expect(srv, lab.sas, lab.cookie, 1))
    pfs = charon_excerpt(lab.pfs, "cli", 2)
    corpus.add("charon_ikev1_pfs", pfs, charon_expect(pfs, lab.pfs_sas, lab.pfs_cookie, 1))
    v2 = charon_excerpt(lab.gcm, "cli", 2)
    spi = lab.ikev2.split(",")[0]
    corpus.add("charon_ikev2", v2, charon_expect(v2, lab.gcm_sas, spi, 2))
    srv = charon_excerpt(lab.gcm, "srv", 2)
    corpus.add("charon_ikev2_responder", srv, charon_expect(srv, lab.gcm_sas, spi, 2))
    syslog = [re.sub(r"^\S+ ", "Nov 20 20:11:53 vpn1 charon: ", line) for line in v1]
    corpus.add("charon_syslog", syslog, expect)
    filelog = [re.sub(r"^\S+ ", "Nov 20 20:11:53 ", line) for line in v1]
    corpus.add("charon_filelog_time", filelog, expect)
    other = [re.sub(r"^\S+ ", "Nov 20 20:11:53 vpn2 charon: ", line) for line in v2]
    both = [line for pair in zip(syslog, other) for line in pair]
    longer = syslog if len(syslog) > len(other) else other
    both += longer[min(len(syslog), len(other)):]
    corpus.add("charon_two_hosts_interleaved", both, expect + charon_expect(v2, lab.gcm_sas, spi, 2))
    # Level 4 for CHD alone: no addresses are lost, no IKE secret is there.
    chd = [line for line in v1 if "[CHD]" in line or "established with" in line]
    rows = [line for line in expect if line.startswith(("esp", "seed"))]
    corpus.add("charon_chd_only", chd, rows)
    spis = [line for line in chd if not re.search(r"adding (in|out)bound|  SPI 0x", line)]
    without = [re.sub(r"^esp \S+ \S+", "esp - -", line) for line in rows]
    corpus.add("charon_spis_only_when_established", spis, without)
    skeyid = []
    keep = False
    for line in v1:
        if "=>" in line:
            keep = re.search(r"SKEYID_[de] =>", line) is not None
        if keep and re.search(r"SKEYID_[de] =>|\] +\d+: ", line):
            skeyid.append(line)
    names = [line.replace(lab.cookie, "-") for line in expect if re.search(r" skeyid_[de] ", line)]
    corpus.add("charon_skeyid_d_and_e_only", skeyid, names)
    cut = [line for line in v1 if not re.search(r"\]   16: 85 96 52 29", line)]
    corpus.add("charon_dump_with_a_lost_row", cut, [line for line in expect if " skeyid_e " not in line])


def linux(lab, corpus):
    monitor = (lab.plain / "xfrm.cli.log").read_text().splitlines()[:60]
    spis = {sa.spi: sa for sa in lab.sas}
    # The excerpt ends within an SA: only whole ones count.
    monitor = monitor[: max(i for i, line in enumerate(monitor) if line.startswith("["))]
    seen = dict.fromkeys(re.findall(r"spi 0x(\w{8})", "\n".join(monitor)))
    corpus.add("xfrm_monitor", monitor, [spis[spi].expect() for spi in seen])
    state = []
    for sa in lab.sas[:4]:
        state += [f"src {sa.src} dst {sa.dst}", f"\tproto esp spi 0x{sa.spi} reqid 1 mode transport", "\treplay-window 32 ",
                  f"\tauth-trunc hmac(sha1) 0x{sa.auth} 96", f"\tenc cbc(aes) 0x{sa.key}",
                  "\tanti-replay context: seq 0x0, oseq 0x0, bitmap 0x00000000", f"\tsel src {sa.src}/32 dst {sa.dst}/32 "]
    keys = [sa.expect() for sa in lab.sas[:4]]
    corpus.add("xfrm_state", state, keys)
    corpus.add("xfrm_state_old_kernel", [re.sub(r"auth-trunc (\S+ \S+) 96", r"auth \1", line) for line in state], keys)
    hidden = [re.sub(r"0x\w{32,}", "<<Keys hidden>>", line) for line in state]
    corpus.add("xfrm_keys_hidden", hidden, [f"defect masked {sa.src} {sa.dst} 0x{sa.spi}" for sa in lab.sas[:4]] + ["problem 5"])
    gcm = (lab.gcm / "xfrm.cli.log").read_text().splitlines()[:10]
    gcm = gcm[gcm.index(next(line for line in gcm if line)):]
    seen = dict.fromkeys(re.findall(r"spi 0x(\w{8})", "\n".join(gcm)))
    spis = {sa.spi: sa for sa in lab.gcm_sas}
    corpus.add("xfrm_monitor_gcm", gcm, [spis[spi].expect() for spi in seen])
    natt = (lab.natt / "xfrm.cli.log").read_text().splitlines()[:16]
    spis = {sa.spi: sa for sa in lab.natt_sas}
    want = [spis[spi].expect(src=src, dst=dst) for src, dst, spi in
            re.findall(r"src (\S+) dst (\S+)\n\tproto esp spi 0x(\w{8})", "\n".join(natt))]
    corpus.add("xfrm_monitor_behind_nat", natt, want)
    a = lab.sas[0]
    corpus.add("xfrm_add_command", [f"ip xfrm state add src {a.src} dst {a.dst} proto esp spi 0x{a.spi} mode transport "
                                    f"auth hmac(sha1) 0x{a.auth} enc cbc(aes) 0x{a.key}"], [a.expect()])
    sha256 = lab.sas[0].auth + lab.sas[1].auth[:24]
    both = [f"src {a.src} dst {a.dst}", f"\tproto esp spi 0x{a.spi} reqid 1 mode tunnel", f"\tauth-trunc hmac(sha256) 0x{sha256} 96",
            f"\tenc cbc(aes) 0x{a.key}", f"src {a.src} dst {a.dst}", f"\tproto esp spi 0x{a.spi} reqid 1 mode tunnel",
            f"\tauth-trunc hmac(sha256) 0x{sha256} 128", f"\tenc cbc(aes) 0x{a.key}"]
    corpus.add("xfrm_sha256_of_both_lengths", both, [a.expect(integ=i, auth=sha256) for i in ("HMAC-SHA2-256-96", "HMAC-SHA2-256-128")])
    broken = [line.replace(a.key, a.key[:-1]) for line in state]
    corpus.add("bad_xfrm_odd_digits", broken, ["problem 5", f"defect truncated {a.src} {a.dst} 0x{a.spi}"] + keys[1:])
    corpus.add("bad_xfrm_short_key", [line.replace(a.key, a.key[:-2]) for line in state],
               ["problem 5", f"defect truncated {a.src} {a.dst} 0x{a.spi}"] + keys[1:])
    corpus.add("bad_xfrm_algorithm", [line.replace("cbc(aes)", "cbc(serpent)") if a.key in line else line for line in state], ["problem 5"] + keys[1:])


def four_bytes(digits):
    return " ".join(digits[i : i + 8] for i in range(0, len(digits), 8))


def others(lab, corpus):
    sas = lab.sas[:2]
    keys = [sa.expect() for sa in sas]
    unnamed = [sa.expect(named=False, src=sa.src, dst=sa.dst) for sa in sas]
    a, b = sas

    def setkey(sa, proto="esp", port=""):
        return [f"{sa.src}{port} {sa.dst}{port} ", f"\t{proto} mode=transport spi={int(sa.spi, 16)}(0x{sa.spi}) reqid=0(0x00000000)",
                f"\tE: aes-cbc  {four_bytes(sa.key)}", f"\tA: hmac-sha1  {four_bytes(sa.auth)}",
                "\tseq=0x00000000 replay=4 flags=0x00000000 state=mature ", "\tcreated: Nov 20 20:11:53 2026\tcurrent: Nov 20 20:12:53 2026"]

    lua = ["unsupported-in-lua setkey"]
    corpus.add("setkey", setkey(a) + setkey(b), keys + lua)
    corpus.add("setkey_behind_nat", setkey(a, "esp-udp", "[4500]") + setkey(b, "esp-udp", "[4500]"), keys + lua)
    stock = "".join(sa.auth for sa in lab.sas)
    wide = setkey(a)
    wide[2:4] = [f"\tE: aes-cbc  {four_bytes(stock[:64])}", f"\tA: hmac-sha2-512  {four_bytes(stock[:64])}", f"\t{four_bytes(stock[64:128])}"]
    corpus.add("setkey_wrapped_after_32_bytes", wide, [a.expect(key=stock[:64], integ="HMAC-SHA2-512-256", auth=stock[:128])] + lua)
    lua = ["unsupported-in-lua tcpdump"]
    corpus.add("tcpdump_e", ["# tcpdump -E file", f"0x{a.spi}@{a.dst} aes128-cbc-hmac96:0x{a.key}", f"0x{b.spi}@{b.dst} aes-128-cbc:0x{b.key}"],
               [f"esp - {sa.dst} 0x{sa.spi} AES-CBC {sa.key} - -" for sa in sas] + lua)
    corpus.add("bad_tcpdump_e", [f"0x{a.spi}@{a.dst} blowfish-cbc:0x{a.key}", f"0x{a.spi}@{a.dst} aes128-cbc-hmac96:0x{a.key[:-1]}",
                                 f"0x{a.spi}@gateway aes128-cbc-hmac96:0x{a.key}"], ["problem 1", "problem 2", f"defect truncated - {a.dst} 0x{a.spi}", f"esp - - 0x{a.spi} AES-CBC {a.key} - -"] + lua)
    lua = ["unsupported-in-lua FortiOS"]
    inbound, outbound = a, b
    tunnel = ["list all ipsec tunnel in vd 0", "-" * 54, f"name=lab ver=1 serial=1 {inbound.dst}:0->{inbound.src}:0 dst_mtu=1500",
              "bound_if=5 lgwy=static/1 tun=intf/0 mode=auto/1", "proxyid=lab proto=0 sa=1 ref=2 serial=1",
              "  SA:  ref=3 options=10226 type=00 soft=0 mtu=1438 expire=42691/0B replaywin=2048",
              "       life: type=01 bytes=0/0 timeout=42898/43200",
              f"  dec: spi={inbound.spi} esp=aes key=16 {inbound.key}", f"       ah=sha1 key=20 {inbound.auth}",
              f"  enc: spi={outbound.spi} esp=aes key=16 {outbound.key}", f"       ah=sha1 key=20 {outbound.auth}",
              "  dec:pkts/bytes=1/2, enc:pkts/bytes=3/4"]
    corpus.add("fortios", tunnel, keys + lua)
    corpus.add("bad_fortios_cut_key", [line.replace(a.key, a.key[:-2]) for line in tunnel], ["problem 8", f"defect truncated {a.src} {a.dst} 0x{a.spi}", keys[1]] + lua)
    spis = f"{lab.cookie}/{lab.cookie_r}"
    phase1 = ["ike 0:lab:7: initiator: main mode get 2nd response...", f"ike 0:lab:7: ISAKMP SA {spis} key {len(lab.ka) // 2}:{lab.ka.upper()}",
              f"ike 0:lab:7: ISAKMP SA {spis} key {len(lab.ka) // 2}:{lab.ka[:-2].upper()}"]
    corpus.add("fortios_phase1", phase1, [f"ike1 {lab.cookie} ka {lab.ka}", "problem 3"] + lua)
    ike2 = "0640897749c18520/05b85dcdb8588501"
    stock = "".join(sa.key + sa.auth for sa in lab.sas)
    keys2 = {"SK_ei": stock[:32], "SK_er": stock[32:64], "SK_ai": stock[64:104], "SK_ar": stock[104:144]}
    corpus.add("fortios_phase1_ikev2", [f"ike 0:lab:8: IKE SA {ike2} {name} {len(key) // 2}:{key.upper()}" for name, key in keys2.items()],
               [f"ike2 {ike2[:16]} {name.lower()} {key}" for name, key in keys2.items()] + lua)
    lua = ["unsupported-in-lua MikroTik"]

    def entry(n, sa, spi=None):
        return [f" {n} HE spi=0x{spi or sa.spi.upper()} src-address={sa.src} dst-address={sa.dst} state=mature ",
                "      auth-algorithm=sha1 enc-algorithm=aes-cbc enc-key-size=128 ", f'      auth-key="{sa.auth}" ',
                f'      enc-key="{sa.key}" addtime=nov/20/2026 20:11:53 ', "      expires-in=29m21s add-lifetime=24m/30m current-bytes=1048 "]

    head = ["Flags: H - hw-aead, A - AH, E - ESP "]
    corpus.add("mikrotik", head + entry(0, a) + [""] + entry(1, b), keys + lua)
    corpus.add("mikrotik_short_spi", head + entry(0, a, "E841441"), [a.expect(spi="0x0e841441")] + lua)
    old = ["Flags: A - AH, E - ESP, P - pfs, M - manual ", " 0   E  spi=E727605 direction=in src-address=%s " % a.src,
           f"         dst-address={a.dst} auth-algorithm=sha1 enc-algorithm=aes ", "         replay=4 state=mature ",
           f'         auth-key="{a.auth}" ', f'         enc-key="{a.key}" ', "         add-lifetime=24m/30m use-lifetime=0s/0s lifebytes=0/0 "]
    corpus.add("mikrotik_version_2", old, [a.expect(spi="0x0e727605")] + lua)
    narrow = [part for line in head + entry(0, a) for part in ([line[:30], line[30:]] if "-key=" in line else [line])]
    corpus.add("mikrotik_narrow_window", narrow, [a.expect()] + lua)

    lua = ["unsupported-in-lua pluto"]

    def rows(label, digits, prefix="| "):
        by16 = [digits[i : i + 32] for i in range(0, len(digits), 32)]
        groups = ["  ".join(spaced(row[i : i + 8]) for i in range(0, len(row), 8)) for row in by16]
        if len(groups) == 1:
            return [f"{prefix}{label}:  {groups[0]}"]
        return [f"{prefix}{label}:"] + [f"{prefix}  {group}" for group in groups]

    phase1 = [f"| ICOOKIE:  {spaced(lab.cookie)}", f"| RCOOKIE:  {spaced(lab.cookie_r)}"]
    for label in ("SKEYID_d", "SKEYID_a", "SKEYID_e"):
        phase1 += rows(label.replace("SKEYID", "Skeyid"), lab.secrets[label])
    phase1 += rows("enc key", lab.ka)
    ike = [f"ike1 {lab.cookie} {label.lower()} {lab.secrets[label]}" for label in ("SKEYID_d", "SKEYID_a", "SKEYID_e")]
    ike.append(f"ike1 {lab.cookie} ka {lab.ka}")
    corpus.add("pluto_phase1", phase1, ike + lua)
    kernel = []
    for sa in sas:
        kernel += [f"| kernel algorithm lookup for esp.{sa.spi}@{sa.dst}"] + rows("ESP encrypt key", sa.key) + rows("ESP integrity key", sa.auth)
    to_dst = [sa.expect(named=False, dst=sa.dst) for sa in sas]
    corpus.add("pluto_esp_keys", kernel, to_dst + lua)
    corpus.add("pluto_syslog", ["Nov 20 20:11:53 gw pluto[1234]: " + line for line in kernel], to_dst + lua)
    keymat = rows("our  keymat", a.key + a.auth) + rows("peer keymat", b.key + b.auth)
    keymat.append(f'"lab" #2: STATE_QUICK_I2: sent QI2, IPsec SA established transport mode {{ESP=>0x{b.spi} <0x{a.spi} xfrm=AES_128-HMAC_SHA1}}')
    corpus.add("pluto_keymat", keymat, [sa.expect(named=False) for sa in sas] + lua)

    lua = ["unsupported-in-lua racoon"]
    head = "2026-11-20 20:11:53: "

    def dump(digits):
        return [f"{head}DEBUG: "] + [four_bytes(digits[i : i + 64]) + " " for i in range(0, len(digits), 64)]

    log = []
    for label in ("SKEYID", "SKEYID_d", "SKEYID_a", "SKEYID_e"):
        log += [f"{head}DEBUG: {label} computed:"] + dump(lab.secrets[label])
    log += [f"{head}DEBUG: encryption(aes)", f"{head}DEBUG: hash(sha1)", f"{head}DEBUG: final encryption key computed:"] + dump(lab.ka)
    log += [f"{head}INFO: ISAKMP-SA established {a.dst}[500]-{a.src}[500] spi:{lab.cookie}:{lab.cookie_r}"]
    dumps = charon_secrets((lab.plain / "charon.cli.log").read_text(errors="replace"))
    seeds = {sa.spi: next(d for _, label, d in dumps if label.endswith("SA seed") and d.startswith("03" + sa.spi)) for sa in sas}
    for sa in sas:
        log += [f"{head}DEBUG: KEYMAT compute with"] + dump(seeds[sa.spi])
        log += [f"{head}DEBUG: hmac(hmac_sha1)", f"{head}DEBUG: encklen=128 authklen=160", f"{head}DEBUG: generating 640 bits of key (dupkeymat=4)",
                f"{head}DEBUG: generating K1...K4 for KEYMAT."] + dump(sa.key + sa.auth + lab.sas[5].auth + lab.sas[6].auth) + [f"{head}DEBUG: KEYMAT computed."]
    early = list(log)
    for sa in sas:
        log += [f"{head}INFO: IPsec-SA established: ESP/Transport {sa.src}[500]->{sa.dst}[500] spi={int(sa.spi, 16)}(0x{sa.spi})"]
    ike = [f"ike1 {lab.cookie} {label.lower()} {lab.secrets[label]}" for label in ("SKEYID", "SKEYID_d", "SKEYID_a", "SKEYID_e")]
    ike.append(f"ike1 {lab.cookie} ka {lab.ka}")
    corpus.add("racoon", log, unnamed + ike + lua)
    corpus.add("racoon_crlf_twice", log + log, unnamed + ike + lua, "\r\n")
    corpus.add("racoon_cut_before_established", early, [sa.expect(named=False) for sa in sas] + ike + lua)
    pfs_dumps = charon_secrets((lab.pfs / "charon.cli.log").read_text(errors="replace"))
    log = []
    for sa in lab.pfs_sas[:2]:
        seed = next(d for _, label, d in pfs_dumps if label.endswith("SA seed") and "03" + sa.spi in d)
        log += [f"{head}DEBUG: KEYMAT compute with"] + dump(seed) + [f"{head}DEBUG: encklen=128 authklen=160"] + dump(sa.key + sa.auth) + [f"{head}DEBUG: KEYMAT computed."]
    for sa in lab.pfs_sas[:2]:
        log += [f"{head}INFO: IPsec-SA established: ESP/Transport {sa.src}[500]->{sa.dst}[500] spi={int(sa.spi, 16)}(0x{sa.spi})"]
    corpus.add("racoon_pfs", log, [sa.expect(named=False, src=sa.src, dst=sa.dst) for sa in lab.pfs_sas[:2]] + lua)

    # One of each in one file, each with its own SA.
    s = lab.sas[:7]
    mixed = [s[0].row(), ""] + [f"2026/11/20 20:11:53: [IKE] SPI: {s[1].spi} enc key: {s[1].key} auth key: {s[1].auth}", ""]
    mixed += [f"src {s[2].src} dst {s[2].dst}", f"\tproto esp spi 0x{s[2].spi} reqid 1 mode transport", f"\tauth-trunc hmac(sha1) 0x{s[2].auth} 96",
              f"\tenc cbc(aes) 0x{s[2].key}"]
    mixed += setkey(s[3]) + entry(0, s[4]) + [f"{lab.cookie},{lab.ka}"] + [f"0x{s[5].spi}@{s[5].dst} aes128-cbc-hmac96:0x{s[5].key}"]
    want = [s[i].expect() for i in (0, 2, 3, 4)] + [s[1].expect(named=False), f"ike1 {lab.cookie} ka {lab.ka}"]
    corpus.add("mixed_formats", mixed, want + [f"esp - {s[5].dst} 0x{s[5].spi} AES-CBC {s[5].key} - -", "unsupported-in-lua setkey"])


def add_all(lab, corpus):
    charon(lab, corpus)
    linux(lab, corpus)
    others(lab, corpus)
