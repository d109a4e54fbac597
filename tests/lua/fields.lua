-- What tshark printed by the FIELDS of run: one table per line, empty values nil.

local fields = {}

-- The order of FIELDS in run.
local COLUMNS = {
  "frame", "spi", "decrypted", "icv_bad", "generation", "packets", "bytes", "age", "prev_spi", "gap_ms", "status", "rekey",
  "trigger", "attempt", "requests", "udp_length", "ip_length", "time",
}

function fields.slurp(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function fields.read(path)
  local rows = {}
  for line in string.gmatch(fields.slurp(path), "[^\n]+") do
    local row, index = {}, 0
    for value in string.gmatch(line .. "\t", "([^\t]*)\t") do
      index = index + 1
      row[COLUMNS[index]] = value ~= "" and value or nil
    end
    rows[#rows + 1] = row
  end
  return rows
end

return fields
