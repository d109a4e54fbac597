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

-- A table cell of two directions, "1.1/2.2", as two values; "-" is none.
local function both(cell)
  local first, second = string.match(cell, "^([^/]*)/?(.*)$")
  return first, second
end

local function read_table(path)
  local rows, attempts = {}, {}
  for line in string.gmatch(fields.slurp(path), "[^\n]+") do
    check.truth(#line <= 78, "a window holds 78 characters: " .. line)
    local number, outcome, requests, over, answer, initiator = string.match(line,
      "^(%d+)  +(%S.-)  +(%d+)  +([%d%.]+)  +([%d%.%-]+)  +(%S+)$")
    local row = { string.match(line, "^(%d+)  +([%d%.]+)  +([%d%.]+)  +([%d%.%-]+ ?%%?)  +([%d%.]+)  +(%S+)  +(%S+)$") }
    if number then
      attempts[tonumber(number)] = {
        outcome = outcome, requests = tonumber(requests), over = over, answer = answer, initiator = initiator,
      }
    elseif row[1] then
      rows[tonumber(row[1])] = {
        time = row[2], kilobytes = tonumber(row[3]), percent = row[4], age = row[5], gaps = row[6], frames = row[7],
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
  local volume_percent, kilobytes = string.match(text, "([%d%.]+) %% of (%d+) kB")
  local age_percent, seconds = string.match(text, "([%d%.]+) %% of (%d+) s")
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

-- Gaps and first frames: the busier direction first, which is the download, the initiator's inbound SA.
local function check_switch(rekey, row, name)
  local frames = { string.match(row.frames, "^(%d+)/([^/]+)/([^/]+)$") }
  check.equal(tonumber(frames[1]), rekey.messages[1].frame, name .. ": frame of the exchange")
  local gaps, spis = { both(row.gaps) }, { rekey.new_spi_in, rekey.new_spi_out }
  for index = 1, 2 do
    local new = by_spi[spis[index]] and by_spi[spis[index]].capture
    check.equal(tonumber(frames[index + 1]), new and new.first_frame, name .. ": first frame on " .. tostring(spis[index]))
    if new then
      near(gaps[index], (new.first_t - before(new).last_t) * 1000, rounded(0.1) + DIFFERENCE_US / 1000, name .. ": gap, ms")
    else
      check.equal(gaps[index], "-", name .. ": no gap without a packet")
    end
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
    return "completed, no packet on a new SPI"
  end
  return answer and "refused (its reason cannot be read)" or "no answer"
end

local function check_attempt(rekey, row, name)
  local copies, answer = requests_of(rekey)
  check.equal(row.outcome, what_became_of(rekey, answer), name .. ": what became of it")
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
    near(row.age, age, rounded(0.001) + DIFFERENCE_US / 1e6, name .. ": age, s")
    near(row.kilobytes, volume / 1000, rounded(0.1), name .. ": volume, kB")
    check_planted_limit(rekey, volume, name)
    check_switch(rekey, row, name)
    check_attempt(rekey, attempts[number] or {}, name)
    check.equal((attempts[number] or {}).initiator, rekey.messages[1].src, name .. ": initiator")
    if limits.kilobytes > 0 then
      near(string.match(row.percent, "^([%d%.]+) %%$"), volume / limits.kilobytes / 10, rounded(0.1), name .. ": of the limit, %")
    else
      check.equal(string.match(row.percent, "^%S+"), "-", name .. ": no volume limit in the table")
    end
    local text = by_frame[rekey.messages[1].frame].trigger
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
