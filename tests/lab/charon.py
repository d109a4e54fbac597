"""strongSwan's daemon in a namespace, with ESP in its own process (kernel-libipsec): tunnel mode, always UDP 4500."""

import os
import signal
import subprocess

from network import NAT_ADDRESS, LabError, wait_for

DAEMON = "/usr/lib/ipsec/charon"
# A test key of no system.
SECRET = "rekeyscope-test-tunnel"
INNER = {"server": "10.66.0.1", "client": "10.66.0.2"}
OUTER = {"server": "10.9.0.1", "client": "10.9.0.2"}

SETTINGS = """charon {{
  load = random nonce aes sha1 sha2 hmac gmp kdf openssl gcm pem pkcs1 kernel-libipsec kernel-netlink socket-default vici
  retransmit_jitter = 0
  retransmit_timeout = {retransmit}
  plugins {{
    vici {{
      socket = unix://{folder}/{side}.vici
    }}
    kernel-netlink {{
      fwmark = !0x42
    }}
    socket-default {{
      fwmark = 0x42
    }}
    kernel-libipsec {{
      allow_peer_ts = yes
    }}
  }}
  filelog {{
    everything {{
      path = {folder}/charon.{side}.log
      time_format = %s
      time_add_ms = yes
      flush_line = yes
      default = 1
      ike = 4
      chd = 4
      net = 0
      knl = 2
    }}
  }}
}}
"""

CONNECTION = """connections {{
  lab {{
    version = {ike}
    local_addrs = {local}
    remote_addrs = {remote}
    proposals = {ike_proposal}
    rekey_time = 4h
    dpd_delay = {dpd}s
    local {{
      auth = psk
      id = {side}.test
    }}
    remote {{
      auth = psk
      id = {peer}.test
    }}
    children {{
      lab {{
        mode = tunnel
        local_ts = {protected}
        remote_ts = {peer_inner}/32
        esp_proposals = {esp_proposal}
        rekey_bytes = {soft}
        life_bytes = {hard}
        rand_bytes = 0
        rekey_time = 3000s
        life_time = 3600s
        rand_time = 0
      }}
      other {{
        local_ts = {inner}/32
        remote_ts = 10.77.0.0/24
        esp_proposals = {esp_proposal}
      }}
    }}
  }}
}}
secrets {{
  ike-lab {{
    secret = {secret}
  }}
}}
"""


class Charon:
    """One side's daemon."""

    def __init__(self, network, side, variant):
        self.network, self.side, self.folder = network, side, network.folder
        peer = "client" if side == "server" else "server"
        limits = getattr(variant, side)
        settings = self.folder / f"{side}.strongswan.conf"
        settings.write_text(SETTINGS.format(folder=self.folder, side=side, retransmit=variant.retransmit_s))
        self.connection = self.folder / f"{side}.swanctl.conf"
        remote = NAT_ADDRESS if variant.nat and side == "server" else OUTER[peer]
        own = variant.server_esp_proposal if side == "server" else ""
        self.values = {
            "ike": variant.ike, "local": OUTER[side], "remote": remote, "ike_proposal": variant.ike_proposal,
            "side": side, "peer": peer, "inner": INNER[side], "peer_inner": INNER[peer], "protected": f"{INNER[side]}/32",
            "esp_proposal": own or variant.esp_proposal, "dpd": variant.dpd_s,
            "soft": limits.soft_bytes, "hard": limits.hard_bytes, "secret": SECRET,
        }
        self.connection.write_text(CONNECTION.format(**self.values))
        self.environment = {**os.environ, "STRONGSWAN_CONF": str(settings)}
        self.process = None

    def change(self, **values):
        """Another configuration, while it runs."""
        self.values.update(values)
        self.connection.write_text(CONNECTION.format(**self.values))
        self.control("--load-conns", "-f", str(self.connection))

    def start(self):
        """Starts it with a /run of its own, since two daemons would fight over one pid file."""
        script = f"mount -t tmpfs run /run && STRONGSWAN_CONF={self.environment['STRONGSWAN_CONF']} exec {DAEMON}"
        command = self.network.inside(self.side, "sh", "-c", script)
        self.process = self.network.start(f"charon.{self.side}.out", command, signal.SIGTERM)
        wait_for((self.folder / f"{self.side}.vici").is_socket, f"the start of the {self.side}'s charon")
        self.control("--load-all", "--noprompt", "-f", str(self.connection))
        self.network.run(self.side, "ip", "addr", "add", f"{INNER[self.side]}/32", "dev", "lo")

    def control(self, *arguments):
        """swanctl; its output is kept."""
        command = ["swanctl", *arguments, "-u", f"unix://{self.folder}/{self.side}.vici"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        with open(self.folder / f"swanctl.{self.side}.log", "a", encoding="utf-8") as log:
            log.write(done.stdout + done.stderr)
        if done.returncode != 0:
            raise LabError(f"swanctl {arguments[0]} failed: see {self.folder}/swanctl.{self.side}.log")
