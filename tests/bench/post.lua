-- wrk -s post.lua URL -- FILE: posts the file, and prints "REQUESTS FAILURES" at the end.

local bytes

function init(arguments)
    local file = assert(io.open(arguments[1], "rb"))
    local headers = {
        ["Content-Type"] = "application/json",
        ["Accept"] = "application/json, */*",
        ["Accept-Encoding"] = "gzip",
        ["User-Agent"] = "kube-apiserver-admission",
    }
    bytes = wrk.format("POST", nil, headers, file:read("*a"))
    file:close()
end

function request()
    return bytes
end

function done(summary)
    local errors = summary.errors
    io.write(string.format("result %d %d\n", summary.requests,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
