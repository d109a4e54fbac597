-- Attempts: what became of an exchange that would make a CHILD_SA. Pure; rekeyscope_sa hands in the messages in
-- capture order.
--
--   completed   a new SPI carries packets         completed-unused  answered, but nothing came on a new SPI
--   refused     the answer makes no SA            unanswered        no answer came, or none that the initiator heard
--   superseded  both sides asked, the other won   cut               the capture ends before the request was due again
--
-- A message that stands out gets a mark: what was known when it passed ("late": the answer came after many
-- requests). The outcome is what the whole capture says. Rules and figures are those of the analyzer
-- (crates/ipsec/src/rekey/attempt).

local attempt = {}

-- Longest third message of a Quick Mode (RFC 2409 §5.5: header and hash), bytes of IKE; the first two are longer.
local LONGEST_THIRD_MESSAGE = 28 + 80
-- Shortest answer to CREATE_CHILD_SA that makes an SA, bytes of IKE: header, encrypted payload with IV and ICV, SA,
-- nonce, two traffic selectors. An error notification takes 8 to 12 bytes instead of the last three.
local SHORTEST_ANSWER = 28 + (4 + 8 + 8) + 36 + 20 + 2 * 24
-- Nothing has to be computed for a refusal, so it comes a round trip after the request (IKE was seen 0.4 s late).
local REFUSAL_US = 2 * 1000000
-- A request without an answer is sent again within this (racoon after 10 s, strongSwan after 4 s, Windows after 1 s).
local FIRST_REPEAT_US = 10 * 1000000
-- A copy that comes sooner was made by the capture: no peer repeats a request within this.
local SOONEST_REPEAT_US = 100000
-- One or two requests may be lost on their way; three sent apart are not.
local LEAST_UNANSWERED = 3
-- Exchanges before and after one that are looked at for a collision: two overlap, a storm overlaps more.
local MOST_RIVALS = 16

attempt.UNREADABLE = "not readable"

local function mark(exchange, outcome, us)
  return {
    outcome = outcome, requests = exchange.requests, waited_us = us - exchange.us, reason = exchange.refused,
    answered = exchange.answered_us ~= nil,
  }
end

local function refuse(exchange, message, reason)
  exchange.refused = reason
  return mark(exchange, "refused", message.us)
end

local function request(exchange, message)
  if exchange.requests == 0 then
    exchange.requests, exchange.request_us, exchange.length = 1, message.us, message.length
    exchange.whole = not exchange.answered_us and (message.version == 2 or message.length > LONGEST_THIRD_MESSAGE)
    return nil
  elseif message.length ~= exchange.length then
    exchange.third = exchange.third or (message.version == 1 and message.length <= LONGEST_THIRD_MESSAGE)
    return nil
  end
  local wait_us = message.us - exchange.request_us
  if wait_us < SOONEST_REPEAT_US then
    return nil
  end
  exchange.requests, exchange.wait_us, exchange.request_us = exchange.requests + 1, wait_us, message.us
  exchange.unread = false
  if exchange.refused or exchange.third then
    return nil
  end
  return mark(exchange, "unanswered", message.us)
end

local function answer(exchange, message)
  local first = not exchange.answered_us
  exchange.answered_us = exchange.answered_us or message.us
  if message.error then
    return refuse(exchange, message, message.error)
  elseif message.version == 2 then
    if message.length < SHORTEST_ANSWER then
      return refuse(exchange, message, attempt.UNREADABLE)
    end
  elseif first and message.length <= LONGEST_THIRD_MESSAGE then
    -- A third message: the capture begins in the middle of the exchange, with the responder's.
    exchange.whole = false
  end
  if first and exchange.requests >= LEAST_UNANSWERED then
    return mark(exchange, "late", message.us)
  end
  return nil
end

-- One message of the exchange: { us, src, version, length, fragment, error }. `fragment` counts the parts of a message
-- that is sent in several, `error` is the name of an error notification in it. Returns a mark or nil.
function attempt.message(exchange, message)
  if message.fragment and message.fragment > 1 then
    return nil
  end
  return (message.src == exchange.initiator and request or answer)(exchange, message)
end

-- IKEv1 refuses a Quick Mode in an Informational exchange of its own (RFC 2409 §5.7). `named`: it names the message ID
-- of this one. Without the key it may also say something else: the outcome takes it for a refusal when the request is
-- not repeated.
function attempt.informational(exchange, message, named)
  local in_time = message.us - exchange.request_us <= REFUSAL_US
  if exchange.answered_us or message.src == exchange.initiator or not (named or in_time) then
    return nil
  elseif message.error then
    return refuse(exchange, message, message.error)
  end
  exchange.unread = exchange.unread or not message.readable
  return nil
end

-- The initiator of a Quick Mode that heard the answer sends a third message; one that asks again did not hear it.
local function heard(exchange)
  return exchange.answered_us and (exchange.third or exchange.request_us <= exchange.answered_us)
end

local function is_cut(exchange, ends_us)
  -- Waits do not grow shorter from one copy to the next.
  local due = exchange.wait_us
  due = due and due < FIRST_REPEAT_US and due or FIRST_REPEAT_US
  return exchange.requests < LEAST_UNANSWERED and ends_us - exchange.request_us < due
end

-- The outcome of one exchange and, of a refusal, its reason; nil where the capture holds one side only or only the
-- exchange's end. `used`: a new SPI carries packets.
local function own_outcome(exchange, tunnel, used, ends_us)
  if used then
    return "completed"
  elseif not exchange.whole or not next(tunnel.speaks, next(tunnel.speaks)) then
    return nil
  elseif exchange.refused then
    return "refused", exchange.refused
  elseif heard(exchange) then
    return "completed-unused"
  elseif exchange.unread and (exchange.followed or ends_us - exchange.request_us >= FIRST_REPEAT_US) then
    return "refused", attempt.UNREADABLE
  elseif is_cut(exchange, ends_us) then
    return "cut"
  end
  return "unanswered"
end

-- Both sides asked at once (RFC 7296 §2.8.1), and the other's exchange made the SAs that are in use.
local function is_superseded(rekey)
  local own, rekeys = rekey.exchange, rekey.tunnel.rekeys
  for index = rekey.place - MOST_RIVALS, rekey.place + MOST_RIVALS do
    local rival = rekeys[index]
    local other = rival and rival.exchange
    if other and next(rival.new) and other.initiator ~= own.initiator and other.us <= own.last_us
      and own.us <= other.last_us then
      return true
    end
  end
  return false
end

-- Returns the outcome of a rekey and its reason; `ends_us` is the capture's last frame.
function attempt.outcome(rekey, ends_us)
  local exchange, used = rekey.exchange, next(rekey.new) ~= nil
  if not exchange then
    return "completed"
  end
  local outcome, reason = own_outcome(exchange, rekey.tunnel, used, ends_us)
  if outcome == "completed-unused" and is_superseded(rekey) then
    return "superseded"
  end
  return outcome, reason
end

return attempt
