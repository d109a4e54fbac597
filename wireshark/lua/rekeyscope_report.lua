-- The sentence that sums a capture up and the table of rekeys, in the words of the program's report
-- (rekeyscope_words). Pure.

local attempt = require("rekeyscope_attempt")
local program = require("rekeyscope_program")
local sa = require("rekeyscope_sa")
local words = require("rekeyscope_words")

local report = {}

local UNKNOWN = "–"

local function percent(fraction)
  return fraction and string.format("%.1f %%", fraction * 100) or UNKNOWN
end

-- "1,234".
local function grouped(number)
  local digits = string.format("%.0f", number)
  return (string.gsub(string.gsub(string.reverse(digits), "(%d%d%d)", "%1,"), ",$", "")):reverse()
end

-- Milliseconds without their unit: "0.9", "12", "4,920".
local function ms(us)
  if not us then
    return UNKNOWN
  end
  return us < 9950 and string.format("%.1f", us / 1000) or grouped(us / 1000)
end

local function seconds(us)
  return string.format("%.3f", us / 1000000)
end

-- Three significant digits: "9.42", "94.2", "942".
local function three_digits(number)
  return string.format(1000 * number < 9995 and "%.2f" or 100 * number < 9995 and "%.1f" or "%.0f", number)
end

local PREFIXES = { "", "k", "M", "G", "T" }

-- "2.04 MB" (1 MB = 10⁶ bytes).
local function volume(bytes)
  local place = 1
  while 2 * bytes >= 1999 and place < #PREFIXES do
    bytes, place = bytes / 1000, place + 1
  end
  return (place == 1 and string.format("%.0f", bytes) or three_digits(bytes)) .. " " .. PREFIXES[place] .. "B"
end

local function counted(number, noun)
  return grouped(number) .. " " .. noun .. (number == 1 and "" or "s")
end

-- "volume: 84.1 % of 2,400 kB" and its like, for one rekey.
function report.trigger(rekey)
  local trigger = rekey.trigger
  local kind, limit_kb, limit_s = words["trigger-" .. trigger.kind], trigger.limit_kb, trigger.limit_s
  local limit = limit_kb and string.format(words["trigger-bytes-of"], percent(trigger.fraction), grouped(limit_kb))
    or string.format(words["trigger-bytes-no-limit"], volume(trigger.bytes))
  local age_s = trigger.age_us and three_digits(trigger.age_us / 1000000) .. " s" or UNKNOWN
  local age = limit_s and string.format(words["trigger-age-of"], percent(trigger.age_fraction), grouped(limit_s))
    or string.format(words["trigger-age-no-limit"], age_s)
  if not trigger.negotiated then
    return kind .. ": " .. limit .. " (Windows' default, the lifetime could not be read)"
  elseif trigger.kind == "unknown" then
    return kind .. ": " .. limit .. "; " .. age
  end
  return kind .. ": " .. (trigger.kind == "volume" and limit or age)
end

local function refusal(reason)
  local refused = words["outcome-refused"]
  return reason == attempt.UNREADABLE and refused .. " (its reason cannot be read)"
    or string.format(words["outcome-because"], refused, reason)
end

-- Says what a message tells about its attempt, by what was known when it passed.
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
  return words["outcome-unanswered"] .. " after " .. waited
end

-- Returns the beginning of the Info column of a frame of a rekey, or nil. `one`: the SA whose first packet it is.
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
    text = rekey.trigger.kind == "unknown" and "begins" or "begins, trigger " .. words["trigger-" .. rekey.trigger.kind]
  end
  return "[" .. name .. (text and ": " .. text or "") .. "] "
end

-- The characters of a UTF-8 text.
local function width_of(text)
  return select(2, string.gsub(text, "[^\128-\191]", ""))
end

local function wrapped(text)
  local lines, line = {}, nil
  for word in string.gmatch(text, "%S+") do
    if line and width_of(line) + 1 + width_of(word) > program.WIDTH then
      lines[#lines + 1], line = line, word
    else
      line = line and line .. " " .. word or word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n") .. "\n"
end

local HEAD = {}
for column, name in ipairs({ "number", "time-s", "by", "trigger", "volume", "ike-ms", "silence-ms", "", "outcome" }) do
  HEAD[column] = words["column-" .. name] or "frame"
end
local OF_WORDS = { [3] = true, [4] = true, [9] = true }

-- Columns of words begin alike, columns of numbers end alike.
local function aligned(rows)
  local widths, total = {}, 0
  for _, row in ipairs(rows) do
    for column, text in ipairs(row) do
      local width = width_of(text)
      widths[column] = widths[column] and widths[column] > width and widths[column] or width
    end
  end
  for _, width in ipairs(widths) do
    total = total + width
  end
  local between, lines = total + 2 * (#widths - 1) <= program.WIDTH and "  " or " ", {}
  for index, row in ipairs(rows) do
    local cells = {}
    for column, text in ipairs(row) do
      local blanks = string.rep(" ", widths[column] - width_of(text))
      cells[column] = OF_WORDS[column] and text .. blanks or blanks .. text
    end
    lines[index] = string.gsub(table.concat(cells, between), "%s+$", "") .. "\n"
  end
  return table.concat(lines)
end

-- A receiver that merges packets of a stream acknowledges 64 KB, some 45 packets, at once; others every second packet
-- (RFC 5681 §4.2).
local PACKETS_PER_ACK = 45

-- The direction whose silence is told, and whether it is the one that acknowledges: an acknowledgement shows that data
-- has arrived, a packet of data may be lost behind the capture. Without acknowledgements it is the one with most bytes.
local function telling(tunnel)
  local most, back
  for _, direction in pairs(tunnel.directions) do
    if not most or direction.bytes > most.bytes or direction.bytes == most.bytes and direction.key < most.key then
      most, back = direction, most
    else
      back = direction
    end
  end
  if back and back.packets * PACKETS_PER_ACK >= most.packets then
    return back, true
  end
  return most, false
end

local NOT_KNOWN = "not known: the capture lacks messages"

-- The outcome of a rekey, whole and as short as the table has room for.
local function outcome_in_words(outcome)
  local whole = outcome and words["outcome-" .. outcome] or NOT_KNOWN
  return whole, (string.gsub(string.gsub(string.gsub(whole, ":.*", ""), " by .*", ""), "^.*, ", ""))
end

local function side(tunnel, exchange)
  if not exchange then
    return UNKNOWN
  end
  return words[exchange.initiator == tunnel.client and "end-client" or "end-gateway"]
end

local function trigger_cell(trigger)
  local kind = words["trigger-" .. trigger.kind]
  if trigger.kind == "volume" then
    return kind .. string.format(" %.0f %%", trigger.fraction * 100)
  elseif trigger.kind == "time" then
    return kind .. " " .. three_digits(trigger.age_us / 1000000) .. " s"
  end
  return kind
end

-- `direction`: the one whose silence is told.
local function row_of(state, rekey, direction)
  local exchange, trigger = rekey.exchange, rekey.trigger
  return {
    tostring(rekey.number), seconds(rekey.us), side(rekey.tunnel, exchange), trigger_cell(trigger),
    volume(trigger.bytes), ms(exchange and exchange.last_us - exchange.us),
    ms(direction and sa.silence(rekey, direction, state.ends_us)), tostring(rekey.frame),
    select(2, outcome_in_words((sa.outcome(state, rekey)))),
  }
end

-- A sentence about a rekey that did not go well at once, or nil.
local function trouble(state, rekey)
  local exchange, outcome, reason = rekey.exchange, sa.outcome(state, rekey)
  if not exchange or outcome == "completed" and exchange.requests < 2 then
    return nil
  end
  local text = outcome == "refused" and refusal(reason) or outcome_in_words(outcome)
  text = "Rekey " .. rekey.number .. ": " .. text .. "; " .. counted(exchange.requests, "request")
  if exchange.requests > 1 then
    text = text .. " over " .. seconds(exchange.request_us - exchange.us) .. " s"
  end
  if exchange.answered_us then
    text = text .. ", answer after " .. seconds(exchange.answered_us - exchange.us) .. " s"
  end
  return text .. "."
end

local function lifetime(rekeys)
  for index = #rekeys, 1, -1 do
    local trigger = rekeys[index].trigger
    if trigger.negotiated then
      local kilobytes, limit_s = trigger.limit_kb, trigger.limit_s
      return string.format("lifetime: %s, %s", kilobytes and grouped(kilobytes) .. " kB" or "no volume limit",
        limit_s and grouped(limit_s) .. " s" or "no time limit")
    end
  end
  return nil
end

local SILENCE = "silence: longest time without an ESP packet %s → %s%s, from the request until the new SAs are"
  .. " in use; an idle tunnel is silent, too"

-- The rekeys of one tunnel, and what their columns mean.
local function rekeys_of(state, tunnel, rekeys)
  local rows, troubles = { HEAD }, {}
  local direction, acknowledges = telling(tunnel)
  for index, rekey in ipairs(rekeys) do
    rows[index + 1] = row_of(state, rekey, direction)
    troubles[#troubles + 1] = trouble(state, rekey)
  end
  local notes = {}
  for address in pairs(tunnel.speaks) do
    if tunnel.client and address ~= tunnel.client then
      notes[1] = string.format(words["ends"], tunnel.client, address)
    end
  end
  notes[#notes + 1] = lifetime(rekeys)
  if direction then
    local what = acknowledges and ", which acknowledges what arrives" or ""
    notes[#notes + 1] = string.format(SILENCE, direction.src, direction.dst, what)
  end
  for index, sentence in ipairs(troubles) do
    troubles[index] = wrapped(sentence)
  end
  return aligned(rows) .. wrapped(table.concat(notes, "; ") .. ".") .. table.concat(troubles)
end

-- The rekeys, tunnel by tunnel. Their numbers are the values of rekeyscope.rekey.
local function rekeys(state)
  local tunnels, by_tunnel, parts = {}, {}, {}
  for _, rekey in ipairs(sa.confirmed(state)) do
    local list = by_tunnel[rekey.tunnel]
    if not list then
      list = {}
      by_tunnel[rekey.tunnel], tunnels[#tunnels + 1] = list, rekey.tunnel
    end
    list[#list + 1] = rekey
  end
  for index, tunnel in ipairs(tunnels) do
    parts[index] = "\n" .. rekeys_of(state, tunnel, by_tunnel[tunnel])
  end
  return table.concat(parts)
end

local function is_open(one)
  return (one.status.verified or one.status.unverified) ~= nil
end

-- A window shows some more lines than these and the table.
local MOST_CLOSED = 20

-- The SAs that do not decrypt, a line each.
local function closed(state)
  local lines, more = {}, 0
  for _, one in ipairs(state.sas) do
    if not is_open(one) and #lines < MOST_CLOSED then
      lines[#lines + 1] = wrapped(string.format("0x%s %s → %s: %s, %s", one.spi, one.src, one.dst,
        next(one.status) or "missing", counted(one.packets, "packet")))
    elseif not is_open(one) then
      more = more + 1
    end
  end
  if more > 0 then
    lines[#lines + 1] = "and " .. counted(more, "more SA") .. "\n"
  end
  return (#lines > 0 and "\n" or "") .. table.concat(lines)
end

-- "16 of 16 SAs decrypt, 7 rekeys".
function report.closing(state)
  local opened, failed = 0, 0
  for _, one in ipairs(state.sas) do
    opened = opened + (is_open(one) and 1 or 0)
  end
  local all = sa.confirmed(state)
  for _, rekey in ipairs(all) do
    local outcome = sa.outcome(state, rekey)
    failed = failed + ((outcome == "refused" or outcome == "unanswered") and 1 or 0)
  end
  local text = #state.sas == 0 and "no ESP in the capture"
    or string.format("%d of %s", opened, counted(#state.sas, "SA")) .. (#state.sas == 1 and " decrypts" or " decrypt")
  text = text .. ", " .. counted(#all, "rekey") .. (failed > 0 and " (" .. failed .. " of them failed)" or "")
  if state.left_out > 0 then
    text = text .. string.format(", %d packets beyond the bounds of %d SAs and %d rekeys left out", state.left_out,
      sa.MAX_SAS, sa.MAX_REKEYS)
  end
  return text
end

-- Returns what `tshark -q -z rekeyscope,sa` prints and the GUI's window shows; `answer`: the program's, or nil.
function report.all(state, answer)
  return (answer and answer .. "\n\n" or "") .. report.closing(state) .. "\n" .. rekeys(state) .. closed(state)
end

return report
