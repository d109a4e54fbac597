-- Writes a synthetic capture of attempts that fail, without keys: lua attempts.lua OUT.pcap
-- 198.51.100.1 asks three times. A Quick Mode is refused by an Informational message in clear; another is repeated and never
-- answered; a CREATE_CHILD_SA in two fragments is refused by an answer that is too short to make an SA.

local pcap = require("pcap")

local big = pcap.big
local A, B = "\198\51\100\1", "\198\51\100\2"
local ESP, UDP = 50, 17
local HASH, NOTIFY, FRAGMENT, ENCRYPTED = 8, 11, 53, 46

local function ip(src, dst, protocol, payload)
  return "\2\0\0\0\0\2\2\0\0\0\0\1" .. "\8\0" .. "\69\0" .. big(20 + #payload, 2) .. big(0, 4) .. "\64" .. string.char(protocol)
    .. big(0, 2) .. src .. dst .. payload
end

local function esp(src, dst, spi)
  return ip(src, dst, ESP, big(spi, 4) .. big(1, 4) .. string.rep("\165", 64))
end

local function ike(src, dst, version, exchange, flags, id, payload, body)
  local message = string.rep("\170", 8) .. string.rep("\187", 8) .. string.char(payload, 16 * version, exchange, flags) .. big(id, 4)
    .. big(28 + #body, 4) .. body
  return ip(src, dst, UDP, big(500, 2) .. big(500, 2) .. big(8 + #message, 2) .. big(0, 2) .. message)
end

-- What nobody can read: the first two messages of a Quick Mode are that long.
local function quick_mode(id)
  return ike(A, B, 1, 32, 1, id, HASH, string.rep("\165", 144))
end

local NO_PROPOSAL_CHOSEN = 14
-- The data of the notification names the Quick Mode.
local function informational(refers)
  local notification = "\0\0" .. big(16, 2) .. big(1, 4) .. "\3\0" .. big(NO_PROPOSAL_CHOSEN, 2) .. big(refers, 4)
  return ike(B, A, 1, 5, 0, 0x22222222, NOTIFY, notification)
end

-- A fragment (RFC 7383) of a request of the side that began the IKE SA.
local function fragment(number, bytes)
  return ike(A, B, 2, 36, 8, 7, FRAGMENT, "\40\0" .. big(8 + bytes, 2) .. big(number, 2) .. big(2, 2) .. string.rep("\165", bytes))
end

local function short_answer()
  return ike(B, A, 2, 36, 32, 7, ENCRYPTED, "\41\0" .. big(52, 2) .. string.rep("\165", 48))
end

pcap.write(arg[1], {
  { 0, esp(A, B, 0x0a000001) }, { 0.1, esp(B, A, 0x0b000001) },
  { 2, quick_mode(0x11111111) }, { 2.1, informational(0x11111111) },
  { 10, quick_mode(0x33333333) }, { 14, quick_mode(0x33333333) }, { 21, quick_mode(0x33333333) },
  { 40, fragment(1, 400) }, { 40.2, fragment(2, 400) }, { 40.3, short_answer() },
  { 60, esp(A, B, 0x0a000001) },
})
