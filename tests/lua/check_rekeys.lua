-- check_rekeys.lua TRUTH.json FIELDS.tsv REKEYS.txt: trigger, volume, age and gap of every rekey, what became of it and which
-- messages stand out, against what the lab knows. FIELDS.tsv: see FIELDS in run; REKEYS.txt: `-z rekeyscope,sa`. Both with the IKE
-- key in the log.

local check = require("check")
local json = require("json")
local fields = require("fields")

local truth = json.parse(fields.slurp(arg[1]))
local params, limits = truth.params, {}
check.begin(truth.variant)

-- How far a difference of two times may be off, in µs: truth.json rounds each to 1 µs (0.5 + 0.5) and keeps it as a double of
-- seconds since 1970 (resolution 0.24 µs each); ours is a difference of whole microseconds, both rounded down (less than 1).
local DIFFERENCE_US = 0.5 + 0.5 + 0.24 + 0.24 + 1
-- Below this share of a limit the plugin recognises none (rekeyscope_sa.lua: SOFT_SHARE).
local SOFT_SHARE = 3 / 10
-- What the table prints is rounded to its last digit.
local function rounded(step)
  return step / 2
end

local function near(got, wanted, tolerance, what)
  got = tonumber(got)
  -- A half that was rounded lies on the bound itself, give or take a double's last bit.
  local slack = 1e-12 * (wanted < 0 and -wanted or wanted)
  check.truth(got and got - wanted <= tolerance + slack and wanted - got <= tolerance + slack,
    what .. ": got " .. tostring(got) .. ", wanted " .. wanted .. " ± " .. tolerance)
end

local UNKNOWN = "–"

-- A figure of the table, with commas between thousands, in the unit of its column; and how far rounding takes it.
local function figure(text)
  local digits = string.gsub(text, ",", "")
  local decimals = string.match(digits, "%.(%d+)$") or ""
  return tonumber(digits), rounded(1 / tonumber("1" .. string.rep("0", #decimals)))
end

local BYTES = { B = 1, kB = 1000, MB = 1000000, GB = 1000000000 }

local function read_table(path)
  local rows, attempts = {}, {}
  for line in string.gmatch(fields.slurp(path), "[^\n]+") do
    check.truth(#string.gsub(line, "[\128-\191]", "") <= 78, "a window holds 78 characters: " .. line)
    local number, outcome, requests, more = string.match(line, "^Rekey (%d+): (.*); (%d+) requests?(.*)%.$")
    local row = { string.match(line,
      "^ *(%d+) +([%d%.]+) +(%a+) +(%a+)([%d%. %%s]-) +([%d%.]+) (%a+) +(%S+) +(%S+) +(%d+) +(%a[%a ]*)$") }
    if number then
      attempts[tonumber(number)] = {
        outcome = outcome, requests = tonumber(requests), over = string.match(more, "^ over ([%d%.]+) s") or "0.000",
        answer = string.match(more, ", answer after ([%d%.]+) s$"),
      }
    elseif row[1] then
      rows[tonumber(row[1])] = {
        time = row[2], by = row[3], trigger = row[4], share = row[5], volume = row[6], unit = BYTES[row[7]], ike_ms = row[8],
        silence_ms = row[9], frame = tonumber(row[10]), outcome = row[11],
      }
    end
  end
  return rows, attempts
end

local rows, by_frame = fields.read(arg[2]), {}
for _, row in ipairs(rows) do
  by_frame[tonumber(row.frame)] = row
end
local printed, attempts = read_table(arg[3])
check.equal(#printed, #truth.rekeys, "rekeys in the table")

-- The SAs of both directions that were in use when an exchange began: in each the last that carried a packet before.
local function in_use(rekey)
  local by_direction, spis = {}, {}
  for _, one in ipairs(truth.sas) do
    local capture = one.capture
    if capture and capture.first_t and capture.first_t < rekey.t_first then
      local direction = capture.src .. ">" .. capture.dst
      local best = by_direction[direction]
      if not best or best.capture.first_t < capture.first_t then
        by_direction[direction] = one
      end
    end
  end
  for _, one in pairs(by_direction) do
    spis[one.spi] = one
  end
  return spis
end

-- Decrypted payload of the busier SA in use before the exchange's first frame, by the length that Wireshark's dissector of what
-- ESP holds read: UDP (L2TP; behind a NAT there is one around ESP, and there may be one inside L2TP) or IP (tunnel mode). Our own
-- counts come from ESP's lengths instead.
local function length_inside(row)
  if params.MODE == "l2tp" then
    return string.match(row.udp_length, params.NAT == "1" and "^%d+,(%d+)" or "^%d+")
  end
  return string.match(row.ip_length, "^%d+,(%d+)")
end

local function volume_before(rekey)
  local bytes, most = {}, 0
  local olds = in_use(rekey)
  for _, row in ipairs(rows) do
    if tonumber(row.frame) >= rekey.messages[1].frame then
      break
    end
    if row.spi and olds[row.spi] then
      bytes[row.spi] = (bytes[row.spi] or 0) + tonumber(length_inside(row))
      most = bytes[row.spi] > most and bytes[row.spi] or most
    end
  end
  return most
end

local function age_at(rekey)
  local eldest
  for _, one in pairs(in_use(rekey)) do
    eldest = eldest and eldest < one.capture.first_t and eldest or one.capture.first_t
  end
  return rekey.t_first - eldest
end

-- What Quick Mode announced. IKEv2 negotiates no lifetime: there Windows' default is assumed, and said so.
limits.negotiated = truth.ike[1].Ka ~= nil
limits.kilobytes = limits.negotiated and tonumber(params.LIFE_BYTES) / 1000 or 250000
limits.seconds = limits.negotiated and tonumber((string.match(params.LIFE_TIME, "^%d+"))) or nil
limits.soft_bytes = tonumber(params.REKEY_BYTES)

local function check_trigger(text, volume, age, name)
  local volume_percent, kilobytes = string.match(text, "([%d%.]+) %% of ([%d,]+) kB")
  kilobytes = kilobytes and string.gsub(kilobytes, ",", "")
  local age_percent, seconds = string.match(text, "([%d%.]+) %% of ([%d,]+) s")
  seconds = seconds and string.gsub(seconds, ",", "")
  if limits.kilobytes > 0 then
    near(kilobytes or 0, limits.kilobytes, 0, name .. ": volume limit")
    near(volume_percent, volume / limits.kilobytes / 10, rounded(0.1), name .. ": share of the volume limit")
  else
    check.equal(kilobytes, nil, name .. ": no volume limit")
  end
  check.equal(string.find(text, "Windows' default", 1, true) ~= nil, not limits.negotiated, name .. ": an assumed limit says so")
  local kind = string.match(text, "^%a+")
  -- An age counts from the SA's first packet: where that came late after the exchange, no limit looks near, and that is said.
  local far = limits.soft_bytes == 0 and age / limits.seconds < SOFT_SHARE
  if not limits.negotiated or far then
    check.equal(kind, "unknown", name .. ": trigger")
  elseif limits.soft_bytes > 0 then
    check.equal(kind, "volume", name .. ": trigger")
  else
    check.equal(kind, "time", name .. ": trigger")
    near(seconds or 0, limits.seconds, 0, name .. ": time limit")
    near(age_percent, age / limits.seconds * 100, rounded(0.1) + DIFFERENCE_US / 1e4 / limits.seconds,
      name .. ": share of the time limit")
  end
end

-- The initiator's kernel asks for a rekey once it has *received* soft_bytes, all of which the server's side saw before. Until
-- the exchange reaches the server, no more can pass than the line carries meanwhile: the time from trigger to exchange
-- (charon's times are whole milliseconds), the way of the packet that triggered, and that packet itself.
local function check_planted_limit(rekey, bytes, name)
  local trigger = rekey.trigger
  if limits.soft_bytes == 0 or not trigger then
    return
  end
  local bits = tonumber((string.match(params.RATE, "^(%d+)mbit$"))) * 1e6
  local delay = tonumber((string.match(params.DELAY, "^(%d+)ms$"))) / 1000
  local most = limits.soft_bytes + tonumber(params.MTU) + bits / 8 * (rekey.t_first - trigger.t + delay + 0.001)
  check.truth(bytes >= limits.soft_bytes and bytes <= most,
    name .. ": " .. bytes .. " bytes lie between the planted " .. limits.soft_bytes .. " and " .. most)
end

local by_spi = {}
for _, one in ipairs(truth.sas) do
  by_spi[one.spi] = one
end

-- The SA that `new` followed in its direction.
local function before(new)
  local best
  for _, one in ipairs(truth.sas) do
    local old = one.capture
    if old and old.src == new.src and old.dst == new.dst and old.first_t < new.first_t and (not best or best.first_t < old.first_t) then
      best = old
    end
  end
  return best
end

-- Gaps and first frames of both directions.
local function check_switch(rekey, name)
  for _, spi in ipairs({ rekey.new_spi_in, rekey.new_spi_out }) do
    local new = by_spi[spi] and by_spi[spi].capture
    if new then
      local row = by_frame[new.first_frame]
      check.truth(row.rekey, name .. ": first frame on " .. spi)
      near(row.gap_ms, (new.first_t - before(new).last_t) * 1000, DIFFERENCE_US / 1000, name .. ": gap, ms")
    end
  end
end

-- The longest time in which the client, which acknowledges a download by TCP, sent no ESP packet; of one by UDP, the gateway. That
-- time touches the one from the request to the first packets on both new SPIs, or to the next request.
local function check_silence(rekey, follower, row, name)
  local client, last, longest = rekey.messages[1].src, nil, nil
  local is_udp = string.find(params.IPERF or "", " -u ", 1, true) ~= nil
  local to = follower and follower.t_first or truth.capture.t0 + 1e9
  local one, other = by_spi[rekey.new_spi_in or ""], by_spi[rekey.new_spi_out or ""]
  if one and other and one.capture and other.capture then
    to = one.capture.first_t > other.capture.first_t and one.capture.first_t or other.capture.first_t
  end
  local function between(start, stop)
    -- Half a microsecond tells the same frame from the next.
    if stop >= rekey.t_first - truth.capture.t0 and start <= to - truth.capture.t0 + 5e-7 then
      longest = longest and longest > stop - start and longest or stop - start
    end
  end
  for _, packet in ipairs(rows) do
    local used = packet.spi and by_spi[packet.spi]
    if used and (used.capture.src == client) ~= is_udp then
      if last then
        between(last, tonumber(packet.time))
      end
      last = tonumber(packet.time)
    end
  end
  between(last, tonumber(rows[#rows].time))
  if longest then
    local got, step = figure(row.silence_ms)
    near(got, longest * 1000, step + DIFFERENCE_US / 1000, name .. ": silence, ms")
  else
    check.equal(row.silence_ms, UNKNOWN, name .. ": no silence")
  end
end

-- Copies of an exchange's request, and the first answer.
local function requests_of(exchange)
  local first, copies, answer = exchange.messages[1], {}, nil
  for _, message in ipairs(exchange.messages) do
    if message.src ~= first.src then
      answer = answer or message
    elseif message.len == first.len then
      copies[#copies + 1] = message
    end
  end
  return copies, answer
end

-- A new SPI is in the truth where a daemon or a kernel logged it; the table cannot read why an IKEv2 peer refused.
local function what_became_of(rekey, answer)
  for _, spi in ipairs({ rekey.new_spi_in, rekey.new_spi_out }) do
    if by_spi[spi].capture then
      return "completed"
    end
  end
  if rekey.new_spi_in then
    return "completed, never used"
  end
  return answer and "refused (its reason cannot be read)" or "no answer"
end

-- A rekey that went well at its first request has no sentence.
local function check_attempt(rekey, row, outcome, name)
  local copies, answer = requests_of(rekey)
  local wanted = what_became_of(rekey, answer)
  check.equal(row ~= nil, wanted ~= "completed" or #copies > 1, name .. ": a sentence says what became of it")
  check.truth(string.find(wanted, outcome, 1, true), name .. ": outcome in the table: " .. outcome .. ", wanted " .. wanted)
  if not row then
    return
  end
  check.equal(row.outcome, wanted, name .. ": what became of it")
  check.equal(row.requests, #copies, name .. ": requests")
  near(row.over, copies[#copies].t - copies[1].t, rounded(0.001) + DIFFERENCE_US / 1e6, name .. ": first request to last, s")
  near(row.answer, answer.t - copies[1].t, rounded(0.001) + DIFFERENCE_US / 1e6, name .. ": first request to answer, s")
end

-- Which messages stand out, and as what: all but the first request until the answer, one that came after three, one that refuses.
local function marks()
  local wanted = {}
  for _, exchange in ipairs(truth.exchanges) do
    local copies, answer = requests_of(exchange)
    for number = 2, #copies do
      wanted[copies[number].frame] = "unanswered " .. number
    end
    if #copies >= 3 then
      wanted[answer.frame] = "late " .. #copies
    elseif not exchange.new_spi_in then
      wanted[answer.frame] = "refused " .. #copies
    end
  end
  return wanted
end
local wanted_marks = marks()
for frame, row in pairs(by_frame) do
  local got = row.attempt and row.attempt .. " " .. row.requests
  if got or wanted_marks[frame] then
    check.equal(got, wanted_marks[frame], "frame " .. frame .. " stands out")
  end
end

for number, rekey in ipairs(truth.rekeys) do
  local name, row = "rekey " .. number, printed[number]
  if row then
    local volume, age = volume_before(rekey), age_at(rekey)
    near(row.time, rekey.t_first - truth.capture.t0, rounded(0.001) + DIFFERENCE_US / 1e6, name .. ": time, s")
    local bytes, step = figure(row.volume)
    near(bytes * row.unit, volume, step * row.unit, name .. ": volume, bytes")
    check.equal(row.frame, rekey.messages[1].frame, name .. ": frame of the exchange")
    check_planted_limit(rekey, volume, name)
    check_switch(rekey, name)
    check_silence(rekey, truth.rekeys[number + 1], row, name)
    check_attempt(rekey, attempts[number], row.outcome, name)
    check.equal(row.by, rekey.messages[1].src == truth.rekeys[1].messages[1].src and "client" or "gateway", name .. ": by")
    local ike_ms, ike_step = figure(row.ike_ms)
    near(ike_ms, (rekey.messages[#rekey.messages].t - rekey.messages[1].t) * 1000, ike_step + DIFFERENCE_US / 1000, name .. ": IKE, ms")
    if row.trigger == "volume" then
      near(string.match(row.share, "(%d+) %%$"), volume / limits.kilobytes / 10, rounded(1), name .. ": of the limit, %")
    elseif row.trigger == "time" then
      local seconds, its_step = figure(string.match(row.share, "([%d%.]+) s$"))
      near(seconds, age, its_step + DIFFERENCE_US / 1e6, name .. ": age, s")
    end
    local text = by_frame[rekey.messages[1].frame].trigger
    check.equal(row.trigger, string.match(text or "", "^%a+"), name .. ": trigger in the table")
    check.truth(text, name .. ": its first frame shows a trigger")
    check_trigger(text or "", volume, age, name)
  end
end

-- Every packet's age against the SA's first packet.
for _, row in ipairs(rows) do
  local one = row.spi and by_spi[row.spi]
  if one and tonumber(row.frame) == one.capture.last_frame then
    local age_us = (one.capture.last_t - one.capture.first_t) * 1e6
    near(tonumber(row.age) * 1e6, age_us, DIFFERENCE_US, "age of " .. row.spi .. " at its end, µs")
  elseif one and tonumber(row.frame) == one.capture.first_frame then
    check.equal(tonumber(row.age), 0, "age of " .. row.spi .. " at its first packet")
  end
end

check.finish("rekeys of " .. truth.variant)
