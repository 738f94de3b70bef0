# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A browser that shows pages to nobody, for tests and pictures, driven by the W3C's WebDriver protocol. The caller sets $T, a
# folder of its own, and defines fail TEXT.
browser_url='' browser_session='' browser_driver='' browser_program=''

# browser_programs: those that are needed and are not there.
browser_programs() {
    local program
    for program in chromium chromedriver curl jq; do
        command -v $program >/dev/null || echo $program
    done
}

_driver_port() {
    sed -n 's/.*successfully on port \([0-9]*\).*/\1/p' "$T/driver.log"
}

_browser_port() {
    head -n 1 "$T/browser/DevToolsActivePort" 2>/dev/null
}

# await_browser COMMAND...: waits until it prints something.
await_browser() {
    local end=$((SECONDS + 300))
    until [ -n "$("$@")" ]; do
        [ $SECONDS -lt $end ] || { fail "no browser: $(head -c 300 "$T/browser.log") $(head -c 300 "$T/driver.log")" && return 1; }
        sleep 0.05
    done
}

# start_browser WIDTH HEIGHT
# The driver would look for a browser of its own at `localhost`, which some machines do not know.
start_browser() {
    local around=(env DBUS_SESSION_BUS_ADDRESS=disabled: DBUS_SYSTEM_BUS_ADDRESS=disabled: "HOME=$T" "XDG_RUNTIME_DIR=$T")
    "${around[@]}" chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --log-level=3 \
        "--window-size=$1,$2" "--user-data-dir=$T/browser" --remote-debugging-port=0 about:blank >"$T/browser.log" 2>&1 &
    browser_program=$!
    "${around[@]}" chromedriver --port=0 >"$T/driver.log" 2>&1 &
    browser_driver=$!
    await_browser _driver_port && await_browser _browser_port || return 1
    browser_url=http://127.0.0.1:$(_driver_port)
    browser_session=$(ask POST /session "$(jq -nc --arg address "127.0.0.1:$(_browser_port)" '{capabilities: {alwaysMatch: {
        browserName: "chrome", timeouts: {script: 300000, pageLoad: 300000}, "goog:loggingPrefs": {browser: "ALL"},
        "goog:chromeOptions": {debuggerAddress: $address}}}}')" |
        jq -r .sessionId)
    [ -n "$browser_session" ] && [ "$browser_session" != null ] || fail "no session: $(head -c 300 "$T/driver.log")"
}

# end_browser: the session before the driver, and both before the browser.
end_browser() {
    [ -z "$browser_session" ] || curl -s -m 60 -X DELETE "$browser_url/session/$browser_session" >/dev/null
    [ -z "$browser_driver" ] || { kill "$browser_driver" && wait "$browser_driver"; } 2>/dev/null
    [ -z "$browser_program" ] || { kill "$browser_program" && wait "$browser_program"; } 2>/dev/null
    browser_session='' browser_driver='' browser_program=''
}

# ask METHOD PATH [JSON]: prints the answer's value. What is asked may be long.
ask() {
    local body
    body=$(curl -s -m 300 -X "$1" -H 'Content-Type: application/json' ${3+--data-binary @-} "$browser_url$2" <<<"${3-}") ||
        fail "no answer to $1 $2"
    if jq -e '.value | objects | has("error")' <<<"$body" >/dev/null; then
        fail "$1 $2: $(jq -c '.value | .error, .message' <<<"$body" | head -c 400)"
    fi
    jq -c .value <<<"$body"
}

# in_session METHOD PATH [JSON]
in_session() {
    local method=$1 path=$2
    shift 2
    ask "$method" "/session/$browser_session$path" "$@"
}

# js SCRIPT: what it returns.
js() {
    in_session POST /execute/sync "$(jq -nc --arg script "$1" '{script: $script, args: []}')"
}

# open_file PATH
open_file() {
    in_session POST /url "$(jq -nc --arg url "file://$1" '{url: $url}')" >/dev/null
}

# console: what is in it since it was asked for last.
console() {
    in_session POST /se/log '{"type":"browser"}' | jq -c 'map(.message)'
}

# element CSS: its id.
element() {
    in_session POST /element "$(jq -nc --arg css "$1" '{using: "css selector", value: $css}')" | jq -r '.[]'
}

# keys CSS TEXT: types it there.
keys() {
    in_session POST "/element/$(element "$1")/value" "$(jq -nc --arg text "$2" '{text: $text}')" >/dev/null
}

click() {
    js "document.querySelector('$1').scrollIntoView({block: 'center', behavior: 'instant'})" >/dev/null
    in_session POST "/element/$(element "$1")/click" '{}' >/dev/null
}

# choose ID NUMBER: an option of a list, from 0 up.
choose() {
    js "const s = document.getElementById('$1'); s.selectedIndex = $2; s.dispatchEvent(new Event('change'))" >/dev/null
}

# picture FILE: of the window.
picture() {
    in_session GET /screenshot | jq -r . | base64 -d >"$1"
}
