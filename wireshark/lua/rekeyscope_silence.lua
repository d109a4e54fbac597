-- Silence: how long a direction of a tunnel was without an ESP packet while a rekey was under way: from its request
-- until its SAs are in use in all directions, or until the next request. Pure; rekeyscope_sa hands in the packets.

local silence = {}

-- A packet looks back at this many rekeys that may be under way at once: two overlap, a storm overlaps more.
local LOOK_BACK = 16

-- Tells whether a rekey was still under way at a time.
local function is_under_way(rekey, us)
  local follower = rekey.tunnel.rekeys[rekey.place + 1]
  local ends_us = rekey.in_use_us or follower and follower.us
  return ends_us == nil or us <= ends_us
end

-- Tells the rekeys that the time since the packet before touches how long it was.
function silence.packet(direction, us)
  local last_us, rekeys, key = direction.last_us, direction.tunnel.rekeys, direction.key
  direction.last_us = us
  if not last_us then
    return
  end
  local index = #rekeys
  while index > 0 and index > #rekeys - LOOK_BACK and is_under_way(rekeys[index], last_us) do
    local longest = rekeys[index].silence_us
    if us - last_us > (longest[key] or 0) then
      longest[key] = us - last_us
    end
    index = index - 1
  end
end

-- The longest silence of a direction during a rekey, also up to the capture's end; nil where there is none.
function silence.longest(rekey, direction, ends_us)
  local longest, last_us = rekey.silence_us[direction.key], direction.last_us
  if is_under_way(rekey, last_us) and ends_us - last_us > (longest or 0) then
    return ends_us - last_us
  end
  return longest
end

return silence
