-- Fields, expert info, the subtree and the Info column of a frame. Needs Wireshark's ProtoField, ProtoExpert, Pref and
-- UInt64; nothing happens before tree.new().

local report = require("rekeyscope_report")

local tree = {}

-- Declares everything on `proto`.
function tree.new(proto)
  local F = {
    generation = ProtoField.uint32("rekeyscope.sa_generation", "SA generation", base.DEC),
    rekey = ProtoField.uint32("rekeyscope.rekey", "Rekey", base.DEC),
    trigger = ProtoField.string("rekeyscope.rekey_trigger", "Trigger"),
    bytes = ProtoField.uint64("rekeyscope.sa_bytes", "Bytes on this SA so far", base.DEC),
    packets = ProtoField.uint32("rekeyscope.sa_packets", "Packets on this SA so far", base.DEC),
    age = ProtoField.double("rekeyscope.sa_age", "Age of this SA (s)"),
    prev_spi = ProtoField.uint32("rekeyscope.prev_spi", "SPI before", base.HEX),
    gap = ProtoField.double("rekeyscope.gap_ms", "Gap since the SPI before (ms)"),
    status = ProtoField.string("rekeyscope.key_status", "Key"),
    outcome = ProtoField.string("rekeyscope.attempt_outcome", "Attempt"),
    reason = ProtoField.string("rekeyscope.attempt_reason", "Reason of the refusal"),
    requests = ProtoField.uint32("rekeyscope.attempt_requests", "Requests so far", base.DEC),
  }
  local E = {
    rekey = ProtoExpert.new("rekeyscope.rekey.expert", "Rekey", expert.group.SEQUENCE, expert.severity.NOTE),
    attempt = ProtoExpert.new("rekeyscope.attempt.expert", "Attempt in trouble", expert.group.SEQUENCE,
      expert.severity.WARN),
    mismatch = ProtoExpert.new("rekeyscope.key_mismatch.expert", "Key mismatch", expert.group.CHECKSUM,
      expert.severity.ERROR),
    left_out = ProtoExpert.new("rekeyscope.left_out.expert", "Key not loaded", expert.group.DECRYPTION,
      expert.severity.NOTE),
  }
  proto.fields, proto.experts = F, E
  proto.prefs.info_column = Pref.bool("Rekeys in the Info column", true,
    "Begin the Info column of a rekey's frames with the rekey's number and what happens there")
  proto.prefs.answer = Pref.bool("Begin the table with the program's answer", true,
    "Run the program rekeyscope, where it is installed, for what rekeys cost and why, above the rekey table")
  return { proto = proto, F = F, E = E }
end

local WORD = 4294967296

local function add_sa(self, branch, packets, number, one)
  local F, bytes = self.F, packets.frame_bytes[number]
  branch:add(F.generation, one.generation)
  branch:add(F.bytes, UInt64(bytes % WORD, (bytes - bytes % WORD) / WORD))
  branch:add(F.packets, packets.frame_packets[number])
  branch:add(F.age, packets.frame_us[number] / 1000000)
  if one.previous then
    branch:add(F.prev_spi, tonumber(one.previous.spi, 16))
  end
  local status = packets.frame_status[number]
  branch:add(F.status, status)
  if status == "mismatch" then
    branch:add_proto_expert_info(self.E.mismatch, "The key for SPI 0x" .. one.spi .. " does not fit: bad ICV")
  elseif status == "not loaded" then
    branch:add_proto_expert_info(self.E.left_out, "The log has the key for SPI 0x" .. one.spi
      .. ", but it was loaded for another capture: Tools > rekeyscope > Load key log loads it for this one")
  end
end

local function add_rekey(self, branch, number, rekey, one)
  local trigger = report.trigger(rekey)
  branch:add(self.F.rekey, rekey.number)
  branch:add(self.F.trigger, trigger)
  local text
  if one then
    branch:add(self.F.gap, one.gap_us / 1000)
    text = string.format("Rekey %d: first packet on 0x%s, which replaces 0x%s after %.1f ms", rekey.number, one.spi,
      one.previous.spi, one.gap_us / 1000)
  elseif number == rekey.frame then
    text = string.format("Rekey %d begins: %s", rekey.number, trigger)
  end
  if text then
    branch:add_proto_expert_info(self.E.rekey, text)
  end
end

local function add_mark(self, branch, mark, rekey)
  branch:add(self.F.outcome, mark.outcome)
  branch:add(self.F.requests, mark.requests)
  if mark.reason then
    branch:add(self.F.reason, mark.reason)
  end
  local name = rekey and "Rekey " .. rekey.number or "First SA"
  branch:add_proto_expert_info(self.E.attempt, name .. ": " .. report.mark(mark))
end

-- The subtree of a frame that was accounted for, and the beginning of its Info column.
function tree.show(self, root, pinfo, packets, number)
  local one, rekey, mark = packets.frame_sa[number], packets.frame_rekey[number], packets.frame_mark[number]
  if not (one or rekey or mark) then
    return
  end
  local info = (rekey or mark) and self.proto.prefs.info_column and report.info(number, rekey, one, mark)
  if info then
    pinfo.cols.info:prepend(info)
  end
  -- None of it is in the packet's bytes.
  local branch = root:add(self.proto):set_generated()
  if one then
    add_sa(self, branch, packets, number, one)
  end
  if rekey then
    add_rekey(self, branch, number, rekey, one)
  end
  if mark then
    add_mark(self, branch, mark, rekey)
  end
end

return tree
