-- check_capture.lua TRUTH.json FIELDS.tsv: what tshark showed against what the lab knows. FIELDS.tsv: see fields.lua.

local check = require("check")
local fields = require("fields")
local json = require("json")

local truth = json.parse(fields.slurp(arg[1]))
local rows = fields.read(arg[2])
check.begin(truth.variant)

-- Every ESP frame decrypted, no bad ICV.
local esp, decrypted, bad, last, first = 0, 0, 0, {}, {}
local rekeys, rekey_count, statuses = {}, 0, {}
for _, row in ipairs(rows) do
  if row.spi then
    esp = esp + 1
    -- From 4.4 on a dissector that fails inside leaves neither the next header nor what became of the ICV.
    local failed = row.status == "unverified" and not row.decrypted
    decrypted = decrypted + ((row.decrypted or failed) and 1 or 0)
    bad = bad + ((row.icv_bad == "1" or row.icv_bad == "True") and 1 or 0)
    last[row.spi] = row
    first[row.spi] = first[row.spi] or row
    statuses[failed and "verified" or row.status or "none"] = true
  end
  if row.rekey and not rekeys[row.rekey] then
    rekeys[row.rekey] = true
    rekey_count = rekey_count + 1
  end
end
check.equal(esp, truth.tshark.esp_total, "ESP frames")
check.equal(decrypted, esp, "decrypted frames")
check.equal(bad, 0, "frames with a bad ICV")
check.truth(statuses.verified and next(statuses) == "verified" and next(statuses, "verified") == nil, "every key is verified")

-- Generations: per direction, the order of the SAs' first packets; counters of each SA's last frame.
local order, expected = {}, {}
for _, one in ipairs(truth.sas) do
  if one.capture and one.capture.packets then
    order[#order + 1] = one
  end
end
table.sort(order, function(a, b)
  return a.capture.first_frame < b.capture.first_frame
end)
local known = 0
for _, one in ipairs(order) do
  local direction = one.capture.src .. ">" .. one.capture.dst
  expected[direction] = (expected[direction] or -1) + 1
  known = known + 1
  local head, tail = first[one.spi], last[one.spi]
  check.truth(head and tail, "SA " .. one.spi .. " is seen")
  if head and tail then
    check.equal(tonumber(head.generation), expected[direction], "generation of " .. one.spi)
    check.equal(tonumber(tail.generation), expected[direction], "generation of " .. one.spi .. " at its end")
    check.equal(tonumber(tail.packets), one.capture.packets, "packets of " .. one.spi)
    check.equal(tonumber(tail.bytes), one.capture.esp_bytes, "bytes of " .. one.spi)
    check.equal(tonumber(head.frame), one.capture.first_frame, "first frame of " .. one.spi)
    check.equal(tonumber(tail.frame), one.capture.last_frame, "last frame of " .. one.spi)
  end
end
local seen = 0
for _ in pairs(first) do
  seen = seen + 1
end
check.equal(seen, known, "SAs on the wire")

-- Rekeys: as many as the lab counted, each with its exchange's first frame, its new SPIs and its gap.
check.equal(rekey_count, #truth.rekeys, "rekeys")
-- truth.json rounds both times to 1 µs (0.5 + 0.5) and keeps them as doubles of seconds since 1970 (0.24 each); a gap here is a
-- difference of whole microseconds, both rounded down (less than 1).
local GAP_TOLERANCE_MS = (0.5 + 0.5 + 0.24 + 0.24 + 1) / 1000
local by_frame = {}
for _, row in ipairs(rows) do
  by_frame[tonumber(row.frame)] = row
end
for _, rekey in ipairs(truth.rekeys) do
  local number
  for _, message in ipairs(rekey.messages) do
    local row = by_frame[message.frame]
    number = number or (row and row.rekey)
    check.equal(row and row.rekey, number, "rekey of message frame " .. message.frame)
  end
  check.truth(number, "rekey " .. rekey.n .. " has a number on its exchange")
  for _, name in ipairs({ "new_spi_in", "new_spi_out" }) do
    local head = first[rekey[name]]
    if head then
      check.equal(head.rekey, number, "rekey number at the first packet of " .. rekey[name])
    end
  end
  local head = first[rekey.new_spi_in]
  if head and rekey.gap_old_last_to_new_first then
    local difference = tonumber(head.gap_ms) - rekey.gap_old_last_to_new_first * 1000
    check.truth(difference >= -GAP_TOLERANCE_MS and difference <= GAP_TOLERANCE_MS,
      "gap of rekey " .. rekey.n .. ": off by " .. difference .. " ms")
    check.equal(head.prev_spi and string.lower(head.prev_spi), rekey.old_spi, "SPI before " .. rekey.new_spi_in)
  end
end

check.finish("capture " .. truth.variant)
