#include "observe/memory/memory_page_html.h"

#include "base/error.h"
#include "base/format.h"
#include "io/html.h"
#include "runtime/memory_text.h"

namespace tandem::cuda::memory::detail {

using io::escaped;
using tandem::detail::formatted;

// Colours after Okabe and Ito; what is free is hatched, too, so that nothing is told by its colour alone.
const char* const kPageStyle = R"css(
:root{color-scheme:light dark;--page:#f4f5f7;--panel:#fff;--text:#1b1f24;--dim:#5d6570;--rule:#d9dde2;--held:#0067a8;--waits:#c74e00;--free:#eceef1;--hatch:#a9b1bb;--rest:#b9c0c9;--a0:#0072b2;--a1:#e69f00;--a2:#009e73;--a3:#cc79a7;--a4:#56b4e9;--a5:#d55e00;--a6:#8a7fd6}
@media(prefers-color-scheme:dark){:root{--page:#111418;--panel:#1a1e24;--text:#e4e7eb;--dim:#98a2ae;--rule:#2b313a;--held:#63b8f0;--waits:#f39a55;--free:#20262d;--hatch:#56616f;--rest:#59636f;--a0:#3d9bd6;--a1:#e0a52e;--a2:#2fb592;--a3:#d48bb5;--a4:#8fd0f5;--a5:#ec7a3c;--a6:#a79df0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,"Segoe UI",Roboto,Arial,sans-serif}
main{max-width:1160px;margin:0 auto;padding:32px 24px 56px}
h1{font-size:26px;margin:0}h2{font-size:20px;margin:36px 0 8px}h3{font-size:16px;margin:24px 0 8px}
p{margin:4px 0 12px}.dim,figcaption,th{color:var(--dim);font-weight:500}
.panel{background:var(--panel);border:1px solid var(--rule);border-radius:10px;padding:14px 16px;overflow-x:auto;margin:0 0 12px}
dl{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:12px 0}
dl div{background:var(--panel);border:1px solid var(--rule);border-radius:10px;padding:10px 14px}
dt{color:var(--dim);font-size:13px}dd{margin:0;font-size:21px;font-weight:600}
@media(max-width:720px){main{padding:20px 16px 40px}dl{grid-template-columns:repeat(2,1fr)}dd{font-size:18px}}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
th,td{text-align:right;padding:4px 12px 4px 0;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child,td:first-child{text-align:left}
summary{cursor:pointer;min-height:24px}:focus-visible{outline:2px solid var(--held);outline-offset:2px}
caption{text-align:left;white-space:normal;padding-bottom:6px}
.bar{position:relative;height:22px;overflow:hidden;margin-bottom:8px}.bar span{position:absolute;top:0;bottom:0}
.edge{border-right:1px solid var(--panel)}.held{background:var(--held)}.waits{background:var(--waits)}
.free{background:repeating-linear-gradient(135deg,var(--free) 0 4px,var(--hatch) 4px 6px)}
.swatch{display:inline-block;width:22px;height:12px;margin:0 6px 0 0;border-radius:2px}
.chart{display:grid;grid-template-columns:72px 1fr;margin:14px 8px 4px 0;font-size:13px;color:var(--dim)}
.chart svg{display:block;width:100%;height:240px;border-left:1px solid var(--rule);border-bottom:1px solid var(--rule)}
.ys,.xs{position:relative}.ys span{position:absolute;right:8px;transform:translateY(50%);white-space:nowrap}
.xs{grid-column:2;height:24px}.xs span{position:absolute;top:3px;transform:translateX(-50%);white-space:nowrap}
.xs .first{transform:none}.xs .last{transform:translateX(-100%)}
.line{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}.reserved{stroke:var(--text);stroke-dasharray:6 4}
.peak{stroke:var(--text);stroke-width:1}.area{stroke:var(--panel);stroke-width:1;vector-effect:non-scaling-stroke}
.a0{fill:var(--a0);background:var(--a0)}.a1{fill:var(--a1);background:var(--a1)}.a2{fill:var(--a2);background:var(--a2)}.a3{fill:var(--a3);background:var(--a3)}.a4{fill:var(--a4);background:var(--a4)}.a5{fill:var(--a5);background:var(--a5)}.a6{fill:var(--a6);background:var(--a6)}
.rest{fill:var(--rest);background:var(--rest)}
.key{display:inline-block;margin-right:18px}.line-key::before{content:"";display:inline-block;width:22px;height:0;margin:0 6px 4px 0;border-top:1px solid var(--text)}
.line-key.dashed::before{border-top:2px dashed var(--text)}
.find{display:flex;flex-wrap:wrap;gap:8px 18px;align-items:center;margin-bottom:10px}.find[hidden]{display:none}.find label{display:flex;gap:8px;align-items:center;color:var(--dim)}
.find p{margin:0}input,select{font:inherit;color:var(--text);background:var(--page);border:1px solid var(--dim);border-radius:7px;padding:2px 8px;min-height:28px;min-width:0}
)css";

std::string line_words(const std::string& file, int line) {
  return file.empty() ? "no line known" : escaped(runtime::line_text(file.c_str(), line));
}

std::string line_cell(const std::string& file, int line) {
  return str("<span title=\"", escaped(file), "\">", line_words(file, line), "</span>");
}

std::string percent(size_t part, size_t whole) {
  return formatted("%.1f %%", whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

std::string address_text(uintptr_t address) { return formatted("0x%llx", static_cast<unsigned long long>(address)); }

std::string plural(size_t count, const char* what) { return str(count, " ", what, count == 1 ? "" : "s"); }

std::string seconds_text(double value) { return formatted("%.4f", value); }

std::string table(const std::string& caption, const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>";
  if (!caption.empty()) out += str("<caption class=\"dim\">", caption, "</caption>");
  out += "<thead><tr>";
  for (const std::string& cell : head) out += str("<th scope=\"col\">", cell, "</th>");
  out += "</tr></thead><tbody>";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += str("<td>", cell, "</td>");
    out += "</tr>";
  }
  return out + "</tbody></table>";
}

}  // namespace tandem::cuda::memory::detail
