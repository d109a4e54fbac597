-- Text of the rekey table and of the SA table. Pure.

local attempt = require("rekeyscope_attempt")
local sa = require("rekeyscope_sa")

local report = {}

local function ms(us)
  return us and string.format("%.1f", us / 1000) or "-"
end

local function seconds(us)
  return us and string.format("%.3f", us / 1000000) or "-"
end

-- 2405.3 kB; a kilobyte is 1000 bytes, as the lifetimes count them.
local function kilobytes(bytes)
  return string.format("%.1f", bytes / 1000)
end

local function percent(fraction)
  return fraction and string.format("%.1f %%", fraction * 100) or "-"
end

-- "volume 84.1 % of 2400 kB" and its like, for one rekey.
function report.trigger(rekey)
  local trigger = rekey.trigger
  local limit = trigger.limit_kb and string.format("%s of %d kB", percent(trigger.fraction), trigger.limit_kb)
  local age = trigger.limit_s and string.format("%s of %d s", percent(trigger.age_fraction), trigger.limit_s)
  if not trigger.negotiated then
    return string.format("unknown (volume or time); %s (Windows' default, the lifetime could not be read)", limit)
  elseif trigger.kind == "volume" then
    return "volume: " .. limit
  elseif trigger.kind == "time" then
    return "time: " .. age
  end
  return "unknown (volume or time): " .. (limit or "no volume limit") .. ", " .. (age or "no time limit")
end

local function refusal(reason)
  return reason == attempt.UNREADABLE and "refused (its reason cannot be read)" or "refused: " .. reason
end

-- What a message tells about its attempt, by what was known when it passed.
function report.mark(mark)
  if mark.outcome == "refused" then
    return refusal(mark.reason)
  end
  local waited = string.format("%d requests, %s s", mark.requests, seconds(mark.waited_us))
  if mark.outcome == "late" then
    return "answered only after " .. waited
  elseif mark.answered then
    return "asked again although an answer has passed: " .. waited
  end
  return "no answer after " .. waited
end

-- What the Info column of a frame of a rekey begins with, or nil. `one`: the SA whose first packet it is.
function report.info(number, rekey, one, mark)
  local name = rekey and "rekey " .. rekey.number or "first SA"
  local text
  if mark then
    text = report.mark(mark)
  elseif not rekey then
    return nil
  elseif one then
    text = string.format("first packet on the new SPI, gap %.0f ms", one.gap_us / 1000)
  elseif number == rekey.frame then
    text = rekey.trigger.kind == "unknown" and "begins" or "begins, trigger " .. rekey.trigger.kind
  end
  return "[" .. name .. (text and ": " .. text or "") .. "] "
end

-- Columns aligned with blanks; numbers are strings already.
local function aligned(head, body)
  local width = {}
  for _, row in ipairs({ head }) do
    for column, text in ipairs(row) do
      width[column] = #text
    end
  end
  for _, row in ipairs(body) do
    for column, text in ipairs(row) do
      if #text > width[column] then
        width[column] = #text
      end
    end
  end
  local lines = {}
  local function put(row)
    local cells = {}
    for column, text in ipairs(row) do
      cells[column] = text .. string.rep(" ", width[column] - #text)
    end
    lines[#lines + 1] = (string.gsub(table.concat(cells, "  "), "%s+$", ""))
  end
  put(head)
  for _, row in ipairs(body) do
    put(row)
  end
  return table.concat(lines, "\n")
end

-- The directions of a tunnel, the one with most bytes first.
local function directions(tunnel)
  local list = {}
  for _, direction in pairs(tunnel.directions) do
    local bytes = 0
    for _, one in ipairs(direction.sas) do
      bytes = bytes + one.bytes
    end
    list[#list + 1] = { direction = direction, bytes = bytes }
  end
  table.sort(list, function(a, b)
    if a.bytes ~= b.bytes then
      return a.bytes > b.bytes
    end
    return a.direction.key < b.direction.key
  end)
  return list
end

local function initiator(rekey)
  return rekey.exchange and rekey.exchange.initiator or "-"
end

local function frames_text(rekey)
  local frames = { tostring(rekey.frame) }
  for _, entry in ipairs(directions(rekey.tunnel)) do
    local frame = rekey.first_frame[entry.direction.key]
    frames[#frames + 1] = frame and tostring(frame) or "-"
  end
  return table.concat(frames, "/")
end

local function rekey_row(rekey)
  local gaps = {}
  for _, entry in ipairs(directions(rekey.tunnel)) do
    gaps[#gaps + 1] = ms(rekey.gap_us[entry.direction.key])
  end
  local trigger = rekey.trigger
  return {
    tostring(rekey.number), seconds(rekey.us), kilobytes(trigger.bytes), percent(trigger.fraction),
    seconds(trigger.age_us), table.concat(gaps, "/"), frames_text(rekey),
  }
end

local HEAD = { "#", "time s", "kB", "of limit", "age s", "gap ms", "frames" }

local function exchange_row(rekey)
  local spis = {}
  for _, entry in ipairs(directions(rekey.tunnel)) do
    local new = rekey.new[entry.direction.key]
    spis[#spis + 1] = new and "0x" .. new.spi or "no packet"
  end
  local exchange = rekey.exchange
  local kind, took = "no IKE in the capture", "-"
  if exchange then
    kind = (exchange.version == 2 and "CREATE_CHILD_SA " or "Quick Mode ") .. tostring(exchange.number)
    took = ms(exchange.last_us - exchange.us)
  end
  return { tostring(rekey.number), kind, took, table.concat(spis, " "), rekey.trigger.kind }
end

local EXCHANGE_HEAD = { "#", "exchange", "ms", "new SPIs", "trigger" }

local OUTCOMES = {
  completed = "completed", unused = "completed, no packet on a new SPI", unanswered = "no answer",
  superseded = "superseded by the other side's", cut = "cut off by the end of the capture",
}

local function attempt_row(state, rekey)
  local exchange, outcome, reason = rekey.exchange, sa.outcome(state, rekey)
  local answered_us = exchange and exchange.answered_us
  return {
    tostring(rekey.number),
    outcome == "refused" and refusal(reason) or OUTCOMES[outcome] or "not known: the capture lacks messages",
    exchange and tostring(exchange.requests) or "-",
    exchange and exchange.requests > 0 and seconds(exchange.request_us - exchange.us) or "-",
    answered_us and seconds(answered_us - exchange.us) or "-", initiator(rekey),
  }
end

local ATTEMPT_HEAD = { "#", "what became of it", "requests", "over s", "answer s", "initiator" }

local function limit_note(rekeys)
  local negotiated, assumed = nil, false
  for _, rekey in ipairs(rekeys) do
    if rekey.trigger.negotiated then
      negotiated = rekey.trigger
    else
      assumed = true
    end
  end
  local notes = {}
  if negotiated then
    notes[#notes + 1] = string.format("Negotiated lifetime: %s, %s.",
      negotiated.limit_kb and negotiated.limit_kb .. " kB" or "no volume limit",
      negotiated.limit_s and negotiated.limit_s .. " s" or "no time limit")
  end
  if assumed then
    notes[#notes + 1] = "\"of limit\": no Quick Mode could be read;\nWindows' default of "
      .. sa.DEFAULT_LIMIT_KB .. " kB is assumed."
  end
  return table.concat(notes, "\n")
end

-- Lines of at most 70 characters: Wireshark's text windows begin a little wider. A table takes up to 78.
local LEGEND = [[
Times count from the capture's first packet. kB and age are those of
the expiring SA (its busier direction) when the exchange began; kB
counts the decrypted payload, or ESP bytes where the key is missing.
Gap: last packet on the old SPI to first packet on the new one.
Frames: exchange, then the first packet on the new SPI. Where there
are two directions the busier one comes first. Over and answer: first
request to last, and to the first answer.
]]

-- The rekey table. Its numbers are the values of rekeyscope.rekey.
function report.rekeys(state)
  local body, attempts, exchanges = {}, {}, {}
  local rekeys = sa.confirmed(state)
  for number, rekey in ipairs(rekeys) do
    body[number], attempts[number] = rekey_row(rekey), attempt_row(state, rekey)
    exchanges[number] = exchange_row(rekey)
  end
  if #body == 0 then
    return "No rekey in this capture.\n"
  end
  return aligned(HEAD, body) .. "\n\n" .. aligned(ATTEMPT_HEAD, attempts) .. "\n\n" .. aligned(EXCHANGE_HEAD, exchanges)
    .. "\n\n" .. LEGEND .. limit_note(rekeys) .. "\n"
end

local function status_text(one)
  local names, parts = {}, {}
  for status in pairs(one.status) do
    names[#names + 1] = status
  end
  if #names == 1 then
    return names[1]
  end
  table.sort(names)
  for _, status in ipairs(names) do
    parts[#parts + 1] = status .. " " .. one.status[status]
  end
  return table.concat(parts, ", ")
end

-- What most packets of all SAs of a direction have in common is said once, in its title, with those that differ: a
-- window holds 78 characters, and from 4.4 on no packet says whether its ICV is right where a dissector fails inside.
local function common_status(direction)
  local all, common = { status = {} }, nil
  for _, one in ipairs(direction.sas) do
    local most
    for status, packets in pairs(one.status) do
      all.status[status] = (all.status[status] or 0) + packets
      if not most or packets > one.status[most] then
        most = status
      end
    end
    if common and common ~= most then
      return nil
    end
    common = most
  end
  return status_text(all)
end

local function has_late(direction)
  for _, one in ipairs(direction.sas) do
    if one.late > 0 then
      return true
    end
  end
  return false
end

local function sa_table(direction, late, common)
  local head = { "#", "SPI", "packets", "bytes", "from s", "for s", "gap ms", "frames" }
  head[#head + 1] = late and "late" or nil
  head[#head + 1] = not common and "key" or nil
  local body = {}
  for index, one in ipairs(direction.sas) do
    local row = {
      tostring(one.generation), "0x" .. one.spi, tostring(one.packets), string.format("%d", one.bytes),
      seconds(one.first_us), seconds(one.last_us - one.first_us), ms(one.gap_us),
      one.first_frame .. "-" .. one.last_frame,
    }
    row[#row + 1] = late and tostring(one.late) or nil
    row[#row + 1] = not common and status_text(one) or nil
    body[index] = row
  end
  return aligned(head, body)
end

-- The SA table: every generation of every direction. "late" counts packets on an SPI after its successor began.
function report.sas(state)
  local parts = {}
  for _, tunnel in ipairs(state.list) do
    for _, entry in ipairs(directions(tunnel)) do
      local direction = entry.direction
      local common = common_status(direction)
      local title = direction.src .. " > " .. direction.dst .. (common and ", keys: " .. common or "") .. "\n"
      parts[#parts + 1] = title .. sa_table(direction, has_late(direction), common) .. "\n"
    end
  end
  if #parts == 0 then
    return "No ESP in this capture.\n"
  end
  return table.concat(parts, "\n")
end

-- One line of counts.
function report.summary(state)
  local generations, packets = 0, 0
  for _, one in ipairs(state.sas) do
    packets = packets + one.packets
    if one.generation + 1 > generations then
      generations = one.generation + 1
    end
  end
  local rekeys, failed = sa.confirmed(state), 0
  for _, rekey in ipairs(rekeys) do
    local outcome = sa.outcome(state, rekey)
    failed = failed + ((outcome == "refused" or outcome == "unanswered") and 1 or 0)
  end
  local text = string.format("%d ESP packets, %d SAs, %d generations, %d rekeys", packets, #state.sas, generations,
    #rekeys)
  if failed > 0 then
    text = text .. string.format(" (%d of them failed)", failed)
  end
  if state.left_out > 0 then
    text = text .. string.format(", %d packets beyond the bounds of %d SAs and %d rekeys left out", state.left_out,
      sa.MAX_SAS, sa.MAX_REKEYS)
  end
  return text
end

-- Everything: what `tshark -q -z rekeyscope,sa` prints and the GUI's window shows.
function report.all(state)
  return report.summary(state) .. "\n\nRekeys\n" .. report.rekeys(state) .. "\nSecurity associations\n"
    .. report.sas(state)
end

return report
