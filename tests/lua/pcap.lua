-- Synthetic captures, Ethernet frames given as bytes.

local pcap = {}

function pcap.big(value, bytes)
  value = math.floor(value)
  local parts = {}
  for index = bytes, 1, -1 do
    parts[index] = string.char(value % 256)
    value = (value - value % 256) / 256
  end
  return table.concat(parts)
end

local function little(value, bytes)
  return string.reverse(pcap.big(value, bytes))
end

-- `frames`: { seconds, bytes, kept } in order; of `bytes` the first `kept` are written, all where it is nil.
function pcap.write(path, frames)
  local out = assert(io.open(path, "wb"))
  out:write("\212\195\178\161" .. little(2, 2) .. little(4, 2) .. little(0, 8) .. little(65535, 4) .. little(1, 4))
  for _, frame in ipairs(frames) do
    local seconds, bytes, kept = frame[1], frame[2], frame[3] or #frame[2]
    local whole = seconds - seconds % 1
    out:write(little(1700000000 + whole, 4) .. little((seconds - whole) * 1000000, 4))
    out:write(little(kept, 4) .. little(#bytes, 4) .. string.sub(bytes, 1, kept))
  end
  out:close()
end

return pcap
