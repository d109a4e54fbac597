-- unit_attempt.lua ROOT: what became of attempts to make SAs. Runs under every Lua. Each case reads like a message diagram:
-- A asks, B answers; times are milliseconds.

local check = require("check")
local sa = require("rekeyscope_sa")
local report = require("rekeyscope_report")

local MS = 1000
-- Bytes of IKE: a Quick Mode's first two messages and its third; CREATE_CHILD_SA with and without an SA.
local LONG, THIRD, SHORT = 172, 60, 80
local s, frame

-- A new capture, in which A and B have spoken and one SA each way is in use until 1 s.
local function begin(name)
  check.begin(name)
  s, frame = sa.new(), 0
  for _, ends in ipairs({ { "A", "B", "a1" }, { "B", "A", "b1" } }) do
    frame = frame + 1
    sa.packet(s, frame, 0, ends[1], ends[2], "", ends[3], 100)
    frame = frame + 1
    sa.packet(s, frame, 1000 * MS, ends[1], ends[2], "", ends[3], 100)
  end
end

local function ends(at)
  s.ends_us = at * MS
end

local function esp(at, src, dst, spi)
  frame = frame + 1
  return sa.packet(s, frame, at * MS, src, dst, "", spi, 100)
end

-- A message; `more` overrides: version 2 names who asked. Returns its mark's outcome and requests, "" without one.
local function ike(at, id, src, dst, length, more)
  frame = frame + 1
  local message = {
    frame = frame, us = at * MS, src = src, dst = dst, ports = "", id = id, version = 1, cookie = "c",
    length = length,
  }
  for name, value in pairs(more or {}) do
    message[name] = value
  end
  local rekey, mark
  if message.version == "informational" then
    rekey, mark = sa.informational(s, message)
  else
    rekey, mark = sa.exchange(s, message)
  end
  return mark and mark.outcome .. " " .. mark.requests or "", rekey
end

local function v2(asked, more)
  local message = { version = 2, initiator = asked }
  for name, value in pairs(more or {}) do
    message[name] = value
  end
  return message
end

local function informational(more)
  more = more or {}
  more.version = "informational"
  return more
end

-- "1 completed, 2 refused NAME": the table's rekeys and what became of each.
local function outcomes()
  local parts = {}
  for index, rekey in ipairs(sa.confirmed(s)) do
    local outcome, reason = sa.outcome(s, rekey)
    parts[index] = rekey.number .. " " .. tostring(outcome) .. (reason and " " .. reason or "")
  end
  return table.concat(parts, ", ")
end

begin("completed")
check.equal(ike(2000, "q1", "A", "B", LONG), "", "a request")
check.equal(ike(2100, "q1", "B", "A", LONG), "", "an answer")
check.equal(ike(2200, "q1", "A", "B", THIRD), "", "a third message")
esp(2300, "A", "B", "a2")
ends(3000)
check.equal(outcomes(), "1 completed", "outcome")

begin("the third message was lost on its way")
ike(2000, "q1", "A", "B", LONG)
ike(2100, "q1", "B", "A", LONG)
ike(2200, "q1", "A", "B", THIRD)
check.equal(ike(6100, "q1", "B", "A", LONG), "", "the answer again")
check.equal(ike(6200, "q1", "A", "B", THIRD), "", "the third message again")
ends(30000)
check.equal(outcomes(), "1 completed-unused", "outcome without a packet")
esp(30010, "B", "A", "b2")
check.equal(outcomes(), "1 completed", "outcome with a packet")

begin("nobody answers")
ike(2000, "q1", "A", "B", LONG)
check.equal(ike(2000, "q1", "A", "B", LONG), "", "a copy that the capture made is no request")
check.equal(ike(6000, "q1", "A", "B", LONG), "unanswered 2", "the second request")
check.equal(ike(13000, "q1", "A", "B", LONG), "unanswered 3", "the third request")
ends(13010)
check.equal(outcomes(), "1 unanswered", "three requests are enough, whenever the capture ends")
check.truth(string.find(report.all(s), "0 of 2 SAs decrypt, 1 rekey (1 of them failed)", 1, true), "the first line says so")
check.truth(string.find(report.all(s), "\n1   2%.000  client  unknown   200 B  11,000      12,010      5  no answer\n"), report.all(s))
check.truth(string.find(report.all(s), "\nRekey 1: no answer; 3 requests over 11.000 s.\n", 1, true), "and a sentence")
local fresh = esp(20000, "A", "B", "a2")
check.equal(fresh.rekey.number, 2, "a new SPI does not come from an exchange without an answer")

begin("answered late")
for index, at in ipairs({ 2000, 3000, 5000 }) do
  check.equal(ike(at, "q1", "A", "B", LONG), index > 1 and "unanswered " .. index or "", "request " .. index)
end
check.equal(ike(5100, "q1", "B", "A", LONG), "late 3", "the answer")
ike(5200, "q1", "A", "B", THIRD)
esp(5300, "A", "B", "a2")
ends(9000)
check.equal(outcomes(), "1 completed", "outcome")

begin("the initiator does not hear the answer")
ike(2000, "q1", "A", "B", LONG)
ike(2100, "q1", "B", "A", LONG)
check.equal(ike(6000, "q1", "A", "B", LONG), "unanswered 2", "it asks again")
ends(30000)
check.equal(outcomes(), "1 unanswered", "outcome")

begin("what a message that stands out says")
local said = { outcome = "unanswered", requests = 2, waited_us = 4000 * MS }
check.equal(report.mark(said), "no answer after 2 requests, 4.000 s", "a request that is sent again")
said.answered = true
check.equal(report.mark(said), "asked again although an answer has passed: 2 requests, 4.000 s", "the initiator did not hear it")
said.outcome = "late"
check.equal(report.mark(said), "answered only after 2 requests, 4.000 s", "a late answer")
check.equal(report.mark({ outcome = "refused", reason = "TS_UNACCEPTABLE" }), "refused: TS_UNACCEPTABLE", "a refusal")

begin("the capture ends first")
ike(2000, "q1", "A", "B", LONG)
ends(11999)
check.equal(outcomes(), "1 cut", "nobody need have asked again yet")
ends(12000)
check.equal(outcomes(), "1 unanswered", "one request and ten seconds")
ike(3000, "q1", "A", "B", LONG)
ends(3999)
check.equal(outcomes(), "1 cut", "the next request was due after one second at least")
ends(4000)
check.equal(outcomes(), "1 unanswered", "and was not sent")

begin("CREATE_CHILD_SA refused, not readable")
ike(2000, "m3A", "A", "B", 480, v2("A"))
check.equal(ike(2200, "m3A", "B", "A", SHORT, v2("A")), "refused 1", "a short answer")
ends(30000)
check.equal(outcomes(), "1 refused not readable", "outcome")
check.truth(string.find(report.all(s), "refused (its reason cannot be read)", 1, true), "the table says so")
check.equal(esp(31000, "A", "B", "a2").rekey.number, 2, "a new SPI does not come from a refused exchange")

begin("CREATE_CHILD_SA refused, read")
ike(2000, "m3A", "A", "B", 480, v2("A"))
check.equal(ike(2200, "m3A", "B", "A", 200, v2("A", { error = "TS_UNACCEPTABLE" })), "refused 1", "a notification")
ends(30000)
check.equal(outcomes(), "1 refused TS_UNACCEPTABLE", "outcome")

begin("CREATE_CHILD_SA that may have renewed the IKE SA")
ike(2000, "m3A", "A", "B", 300, v2("A"))
check.equal(ike(2200, "m3A", "B", "A", 300, v2("A")), "", "a long answer")
ends(30000)
check.equal(outcomes(), "", "is no rekey of a CHILD_SA")

begin("CREATE_CHILD_SA in fragments")
ike(2000, "m3A", "A", "B", 1200, v2("A", { fragment = 1 }))
check.equal(ike(2001, "m3A", "A", "B", 1200, v2("A", { fragment = 2 })), "", "the request's second fragment is no repetition")
ike(2200, "m3A", "B", "A", 1200, v2("A", { fragment = 1 }))
check.equal(ike(2201, "m3A", "B", "A", SHORT, v2("A", { fragment = 2 })), "", "the answer's last fragment is no short answer")

begin("Quick Mode refused by an Informational message")
ike(2000, "q1", "A", "B", LONG)
local mark, rekey = ike(2100, "i", "B", "A", 76, informational({ error = "NO-PROPOSAL-CHOSEN", readable = true }))
check.equal(mark .. rekey.number, "refused 11", "the message is marked")
ends(30000)
check.equal(outcomes(), "1 refused NO-PROPOSAL-CHOSEN", "outcome")

begin("the Informational message names another Quick Mode")
ike(2000, "q1", "A", "B", LONG)
ike(2050, "q2", "A", "B", LONG)
check.equal(ike(5000, "i", "B", "A", 76, informational({ error = "INVALID-ID-INFORMATION", refers = "q1", readable = true })),
  "refused 1", "the message is marked, late as it is")
ends(5100)
check.equal(outcomes(), "1 refused INVALID-ID-INFORMATION, 2 cut", "outcomes")

begin("an Informational message that cannot be read")
ike(2000, "q1", "A", "B", LONG)
check.equal(ike(2100, "i", "B", "A", 76, informational()), "", "may say anything when it passes")
ends(11999)
check.equal(outcomes(), "1 cut", "the request may still be repeated")
ends(12000)
check.equal(outcomes(), "1 refused not readable", "it was not")
ike(3000, "q1", "A", "B", LONG)
ends(30000)
check.equal(outcomes(), "1 unanswered", "it was, and nothing came")
ike(31000, "q2", "A", "B", LONG)
ike(31100, "i", "B", "A", 76, informational())
ike(32000, "q3", "A", "B", LONG)
ends(32010)
check.equal(outcomes(), "1 unanswered, 2 refused not readable, 3 cut", "the initiator went on with a new request")

begin("Informational messages that refuse nothing")
ike(2000, "q1", "A", "B", LONG)
check.equal(ike(2050, "i", "A", "B", 76, informational({ error = "INVALID-SPI", readable = true })), "", "of the initiator")
check.equal(ike(2060, "i", "B", "A", 76, informational({ error = "INVALID-SPI", readable = true, cookie = "d" })), "", "of another IKE SA")
check.equal(ike(4001, "i", "B", "A", 76, informational({ error = "INVALID-SPI", readable = true })), "", "two seconds later")
ike(4002, "i", "B", "A", 76, informational({ readable = true }))
ends(30000)
check.equal(outcomes(), "1 unanswered", "outcome")

begin("both sides ask at once")
ike(2000, "q1", "A", "B", LONG)
ike(2010, "q2", "B", "A", LONG)
ike(2100, "q1", "B", "A", LONG)
ike(2110, "q2", "A", "B", LONG)
ike(2200, "q1", "A", "B", THIRD)
ike(2210, "q2", "B", "A", THIRD)
esp(2300, "A", "B", "a2")
esp(2310, "B", "A", "b2")
ends(30000)
check.equal(outcomes(), "1 superseded, 2 completed", "outcomes")

begin("one side's messages alone")
s = sa.new()
sa.packet(s, 1, 0, "A", "B", "", "a1", 100)
ike(2000, "q1", "A", "B", LONG)
ends(30000)
check.equal(outcomes(), "1 nil", "nothing is known of an answer")

begin("the capture begins with a third message")
ike(2000, "q1", "A", "B", THIRD)
ends(30000)
check.equal(outcomes(), "1 nil", "nothing is known of the request")
begin("the capture begins with an answer")
ike(2000, "q1", "B", "A", LONG)
ike(2100, "q1", "A", "B", THIRD)
ends(30000)
check.equal(outcomes(), "1 nil", "nothing is known of the request")

begin("bounds")
local most = sa.MAX_REKEYS
sa.MAX_REKEYS = 2
s = sa.new()
for index = 1, 4 do
  ike(0, "q" .. index, "A" .. index, "B", LONG)
end
check.equal(#s.list .. s.left_out, "22", "first exchanges and their tunnels are bounded too")
sa.MAX_REKEYS = most

check.finish("unit_attempt")
