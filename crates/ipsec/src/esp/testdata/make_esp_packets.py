#!/usr/bin/env python3
"""Makes esp_packets.csv: ESP packets sealed by OpenSSL (through the Python package `cryptography`), so that the Rust
code is checked against an implementation that shares nothing with it. XCBC, which OpenSSL lacks, is spelled out here
from RFC 3566 on OpenSSL's AES.

Synthetic data: keys, IVs and payloads are byte patterns. Run: ./make_esp_packets.py > esp_packets.csv
"""
import hmac
import itertools
import struct
import warnings

warnings.filterwarnings("ignore")
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.cmac import CMAC

try:
    from cryptography.hazmat.decrepit.ciphers.algorithms import Camellia, TripleDES
except ImportError:
    from cryptography.hazmat.primitives.ciphers.algorithms import Camellia, TripleDES

SPI, SEQUENCE, ESN_HIGH, NEXT_HEADER = 0xC0FFEE01, 0x00000203, 0x00000007, 4


def pattern(length, step, first):
    return bytes((first + i * step) & 0xFF for i in range(length))


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def aes_block(key, block):
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)


def xcbc(key, message):
    k1, k2, k3 = (aes_block(key, bytes([n]) * 16) for n in (1, 2, 3))
    whole = len(message) > 0 and len(message) % 16 == 0
    if not whole:
        message += b"\x80" + bytes(-(len(message) + 1) % 16)
    blocks = [message[i : i + 16] for i in range(0, len(message), 16)]
    state = bytes(16)
    for block in blocks[:-1]:
        state = aes_block(k1, xor(state, block))
    return aes_block(k1, xor(xor(state, blocks[-1]), k2 if whole else k3))


def cmac(key, message):
    c = CMAC(algorithms.AES(key))
    c.update(message)
    return c.finalize()


MACS = {
    "HmacMd5_96": (16, 12, lambda k, m: hmac.digest(k, m, "md5")),
    "HmacSha1_96": (20, 12, lambda k, m: hmac.digest(k, m, "sha1")),
    "HmacSha256_96": (32, 12, lambda k, m: hmac.digest(k, m, "sha256")),
    "HmacSha256_128": (32, 16, lambda k, m: hmac.digest(k, m, "sha256")),
    "HmacSha384_192": (48, 24, lambda k, m: hmac.digest(k, m, "sha384")),
    "HmacSha512_256": (64, 32, lambda k, m: hmac.digest(k, m, "sha512")),
    "AesXcbc96": (16, 12, xcbc),
    "AesCmac96": (16, 12, cmac),
    "None": (0, 0, lambda k, m: b""),
}

CBC = {
    "AesCbc": (algorithms.AES, 16, 16),
    "CamelliaCbc": (Camellia, 16, 16),
    "TripleDesCbc": (TripleDES, 8, 8),
    # One key three times is DES.
    "DesCbc": (lambda k: TripleDES(k * 3), 8, 8),
}


def padded(payload, unit):
    pad = -(len(payload) + 2) % unit
    return payload + bytes(range(1, pad + 1)) + bytes([pad, NEXT_HEADER])


def encrypt(name, key, salt, iv, plain):
    if name in CBC:
        return Cipher(CBC[name][0](key), modes.CBC(iv)).encryptor().update(plain)
    if name == "AesCtr":
        counter = salt + iv + struct.pack(">I", 1)
        return Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(plain)
    assert name == "Null"
    return plain


def seal(name, icv, key, salt, integrity, ikey, esn, implicit, payload):
    header = struct.pack(">II", SPI, SEQUENCE)
    aad = struct.pack(">III", SPI, ESN_HIGH, SEQUENCE) if esn else header
    if icv:
        iv = struct.pack(">II", ESN_HIGH if esn else 0, SEQUENCE) if implicit else pattern(8, 29, 0xE1)
        plain = padded(payload, 4)
        sent_iv = b"" if implicit else iv
        if name == "AesGmac":
            tag = AESGCM(key).encrypt(salt + iv, b"", aad + iv + plain)
            return header + iv + plain + tag
        if name == "AesGcm":
            sealed = AESGCM(key).encrypt(salt + iv, plain, aad)
        elif name == "AesCcm":
            sealed = AESCCM(key, tag_length=icv).encrypt(salt + iv, plain, aad)
        else:
            sealed = ChaCha20Poly1305(key).encrypt(salt + iv, plain, aad)
        return header + sent_iv + sealed[: len(plain) + icv]
    block, iv_len = (CBC[name][1], CBC[name][2]) if name in CBC else (4, 8 if name == "AesCtr" else 0)
    iv = pattern(iv_len, 29, 0xE1)
    body = header + iv + encrypt(name, key, salt, iv, padded(payload, block))
    covered = body + struct.pack(">I", ESN_HIGH) if esn else body
    return body + MACS[integrity][2](ikey, covered)[: MACS[integrity][1]]


def suites():
    for integrity in MACS:
        yield "Null", 0, 0, 0, integrity
    for name, lengths in [("AesCbc", (16, 24, 32)), ("CamelliaCbc", (16, 24, 32)), ("TripleDesCbc", (24,)), ("DesCbc", (8,))]:
        for length, integrity in zip(lengths, itertools.cycle(["HmacSha1_96", "HmacSha256_128", "None"])):
            yield name, 0, length, 0, integrity
    for length in (16, 24, 32):
        yield "AesCtr", 0, length, 4, "HmacSha1_96"
        yield "AesGmac", 16, length, 4, "None"
        for icv in (8, 12, 16):
            yield "AesGcm", icv, length, 4, "None"
            yield "AesCcm", icv, length, 3, "None"
    yield "ChaCha20Poly1305", 16, 32, 4, "None"


def main():
    print("encryption,icv,key,integrity,integrity_key,esn_high,implicit_iv,payload_len,packet")
    for name, icv, key_len, salt_len, integrity in suites():
        key, salt = pattern(key_len, 37, 0x11), pattern(salt_len, 53, 0xA7)
        ikey = pattern(MACS[integrity][0], 41, 0x5D)
        implicits = [False, True] if name in ("AesGcm", "AesCcm", "ChaCha20Poly1305") and key_len in (16, 32) else [False]
        for implicit, esn, length in itertools.product(implicits, [False, True], [0, 61, 300]):
            payload = pattern(length, 7, length & 0xFF)
            packet = seal(name, icv, key, salt, integrity, ikey, esn, implicit, payload)
            row = [name, icv, (key + salt).hex(), integrity, ikey.hex(), ESN_HIGH if esn else "", int(implicit), length, packet.hex()]
            print(",".join(map(str, row)))


main()
