# Writes an entry and reads it on the page, in a browser.
set -eu
build/guestbook 8080 >guestbook.log &
until grep -q listening guestbook.log; do
  kill -0 $! || exit 1
  sleep 0.1
done
browser() {
  chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=10000 --dump-dom "http://localhost:8080/$1"
}
browser 'add?Hello%20from%20a%20browser' >/dev/null
browser '' | tee page.html
grep -q '<li>Hello from a browser</li>' page.html
