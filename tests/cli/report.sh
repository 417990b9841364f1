# The report of a run, opened in a real browser: curves are drawn, the script runs, a pointer finds values. Skipped where there is no Chromium.
. "$(dirname "$0")/common.sh.inc"

call TANDEM_VIRTUAL_GPUS=2x64MiB -- train digits --gpus 2 --epochs 3 --quiet --out run
expect_status 0
[ -s run/report.html ] || fail "there is no report" "$(ls run)"
. "$(dirname "$0")/../support/chromium.sh.inc"

# dump FILE: the page as the browser has it once its scripts have run; what they complain of is in $complaints.
dump() {
  dom=$(timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" \
    --enable-logging=stderr --v=0 --virtual-time-budget=2000 --dump-dom "file://$PWD/$1" 2> browser.log)
  complaints=$(grep -E 'CONSOLE|Uncaught|net::ERR' browser.log)
  [ -n "$dom" ] || fail "the browser printed nothing" "$(tail -5 browser.log)"
  [ -z "$complaints" ] || fail "the page's console is not empty" "$complaints"
}
expect_dom() { case "$dom" in *"$1"*) ;; *) fail "the page lacks: $1" "$(printf '%s' "$dom" | tail -c 2000)" ;; esac; }

dump run/report.html
expect_dom 'data-ready="yes"'  # the script came to its end
# Loss, accuracy, learning rate, and the memory of each GPU whose memory changes after the first sample - which depends on the processor, as
# oneDNN's kernels do -: lines with more than a point. The memory of all GPUs stands in a table where it is not drawn.
memory=$(grep -oE 'Memory of cuda:[01],' <<< "$dom" | sort -u | wc -l)
charts=$(grep -o '<svg viewBox' <<< "$dom" | wc -l)
[ "$charts" -eq $((3 + memory)) ] || fail "$charts charts, not $((3 + memory))" ""
lines=$(grep -oE '<path d="M[0-9.]+ [0-9.]+L' <<< "$dom" | wc -l)
[ "$lines" -eq $((4 + 3 * memory)) ] || fail "$lines lines, not $((4 + 3 * memory))" ""
[ "$memory" -eq 2 ] || { expect_dom '<tr><td>cuda:0</td>'; expect_dom '<tr><td>cuda:1</td>'; }
expect_dom 'data:image/png;base64,'

# A pointer over the first chart: the values of its lines at the nearest epoch. And over the middle of a cell: its mistakes stay, others fade.
cat > hover.js << 'END'
window.onload = function () {
  var svg = document.querySelector("svg[data-lines]"), box = svg.getBoundingClientRect();
  if (box.width < 200 || box.height < 90) throw new Error("the chart has no size: " + box.width + " by " + box.height);
  svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + box.width / 2, clientY: box.top + 50}));
  var tip = svg.parentNode.querySelector(".tip");
  var inner = tip.getBoundingClientRect(), outer = svg.parentNode.getBoundingClientRect();
  if (inner.left < outer.left || inner.right > outer.right || inner.top < outer.top || inner.bottom > outer.bottom)
    throw new Error("the values stand outside the chart: " + JSON.stringify([inner, outer]));
  document.body.dataset.tip = tip.hidden ? "hidden" : tip.innerText.replace(/\s+/g, " ");
  var images = Array.from(document.images);
  document.body.dataset.images = images.length + " images, " + images.filter(i => i.complete && i.naturalWidth === 8).length + " whole";
  var cell = document.querySelector(".matrix td[data-cell='" + document.querySelector(".sample").dataset.cell + "']");
  cell.dispatchEvent(new PointerEvent("pointerenter"));
  document.body.dataset.faded = document.querySelectorAll(".sample.faded").length < images.length ? "some stay" : "none stays";
};
END
{ sed 's|</body></html>||' run/report.html; echo '<script>'; cat hover.js; echo '</script></body></html>'; } > run/hovered.html
dump run/hovered.html
tip=$(grep -oE 'data-tip="[^"]*"' <<< "$dom")
[[ $tip =~ ^'data-tip="epoch '[0-9.]+' train_loss '[0-9.]+' val_loss '[0-9.]+'"'$ ]] || fail "the pointer finds no values" "$tip"
images=$(grep -oE 'data-images="[^"]*"' <<< "$dom")
[[ $images =~ ^'data-images="'([0-9]+)' images, '([0-9]+)' whole"'$ && ${BASH_REMATCH[1]} -gt 0 && ${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" ]] ||
  fail "pictures are missing or broken" "$images"
expect_dom 'data-faded="some stay"'
finish
