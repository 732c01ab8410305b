-- wrk -s post.lua URL -- FILE: posts the file, and prints "REQUESTS FAILURES" at the end. What make_bodies.py says is of one
-- Pod alone is another in each of 64 reviews, which take turns.

local REVIEWS = 64
local reviews, sent = {}, 0
-- As long as the number that stands in its place.
local variables = {"x2k8p", "8zq4m", "0d3c9f1a", "5a0c1b7e"}

function init(arguments)
    local file = assert(io.open(arguments[1], "rb"))
    local headers = {
        ["Content-Type"] = "application/json",
        ["Accept"] = "application/json, */*",
        ["Accept-Encoding"] = "gzip",
        ["User-Agent"] = "kube-apiserver-admission",
    }
    local body = file:read("*a")
    file:close()
    for i = 1, REVIEWS do
        local made = body
        for _, variable in ipairs(variables) do
            made = made:gsub(variable, string.format("%0" .. #variable .. "d", i))
        end
        reviews[i] = wrk.format("POST", nil, headers, made)
    end
end

function request()
    sent = sent + 1
    return reviews[sent % REVIEWS + 1]
end

function done(summary)
    local errors = summary.errors
    io.write(string.format("result %d %d\n", summary.requests,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
