#include "train/report_assets.h"

namespace tandem::train::detail {

// Colours after Okabe and Ito, darkened for a light page and lightened for a dark one, so that those who see few colours can tell them
// apart.
const char* const kReportStyle = R"css(
:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--text:#1b1f24;--dim:#5d6570;--rule:#e3e6ea;--grid:#eceef1;
--c0:#0067a8;--c1:#c74e00;--c2:#00805e;--c3:#a03a87;--c4:#7a6a00;--c5:#5d6570;--right:0,103,168;--wrong:199,78,0}
@media(prefers-color-scheme:dark){:root{--page:#111418;--card:#1a1e24;--text:#e4e7eb;--dim:#98a2ae;--rule:#2b313a;--grid:#262c34;
--c0:#63b8f0;--c1:#f39a55;--c2:#45cba4;--c3:#e297cd;--c4:#d9c94e;--c5:#a6b0bb;--right:70,150,215;--wrong:235,125,55}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1160px;margin:0 auto;padding:36px 24px 56px}
h1{font-size:27px;line-height:1.25;letter-spacing:-.01em;margin:0}
h2{font-size:17px;margin:40px 0 12px}
.subtitle{color:var(--dim);margin:4px 0 0}
.card,.chart,.tile{background:var(--card);border:1px solid var(--rule);border-radius:10px}
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:24px 0 0}
.tile{padding:12px 16px;flex:1 1 150px}
.tile dt,th{color:var(--dim);font-size:13px;font-weight:500}
.tile dd{margin:0;font-size:25px;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:16px}
.chart{margin:0;padding:14px 14px 8px;position:relative}
.chart figcaption{font-weight:600;font-size:14px;margin-bottom:6px}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{font-size:11.5px;fill:var(--dim);font-variant-numeric:tabular-nums}
.grid line{stroke:var(--grid)}.axis line{stroke:var(--rule)}
.line path{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.dashed path{stroke-dasharray:5 5;stroke-width:1.5}
.dot{fill:currentColor}.hit{fill:transparent}
@media(max-width:600px){svg text{font-size:17px}main{padding:24px 16px 40px}}
svg text.name{fill:currentColor;font-weight:600}
.c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}
.cursor{stroke:var(--dim);stroke-dasharray:2 3}.mark{fill:var(--card);stroke:currentColor;stroke-width:2}
.tip{position:absolute;pointer-events:none;background:var(--text);color:var(--card);border-radius:6px;padding:6px 10px;font-size:12.5px;
line-height:1.45;white-space:nowrap;font-variant-numeric:tabular-nums;z-index:1}
.tip b{float:right;margin-left:16px;font-weight:600}
.side{display:grid;grid-template-columns:minmax(0,auto) minmax(260px,1fr);gap:16px;align-items:start}
@media(max-width:900px){.side{grid-template-columns:minmax(0,1fr)}}
.card{padding:16px;overflow-x:auto}
.scrolls::before{content:"scroll sideways \2192";display:block;position:sticky;left:0;width:max-content;color:var(--dim);font-size:12.5px;margin-bottom:6px}
.scrolls .matrix tr>:first-child,.scrolls .numbers tr>:first-child{position:sticky;left:-16px;background:var(--card);z-index:1;padding-left:16px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.matrix td,.matrix th{min-width:38px;height:34px;padding:0 4px;text-align:center;font-size:13.5px}
.matrix td.cell{border:1px solid var(--card);border-radius:5px}
.matrix td.cell{color:#000}.matrix td.strong{color:#fff}
@media(prefers-color-scheme:dark){.matrix td.cell{color:#fff}.matrix td.bright{color:#000}}
.matrix td.none{color:var(--dim)}.matrix td.cell.on{outline:2px solid var(--text);outline-offset:-2px}
.matrix .axis-name{font-weight:400;text-align:left;height:24px}
.samples{display:grid;grid-template-columns:repeat(auto-fill,minmax(84px,1fr));gap:14px 10px}
.sample{margin:0;text-align:center;font-size:13px;transition:opacity .15s}
.sample img{width:72px;height:72px;image-rendering:pixelated;border-radius:6px;display:block;margin:0 auto 4px}
.sample b{color:var(--c1)}.sample span{color:var(--dim)}
.faded{opacity:.18}
.note{color:var(--dim);font-size:13px;margin:0 0 12px}
.numbers{width:100%}
.numbers th,.numbers td{padding:5px 14px;text-align:right;border-bottom:1px solid var(--rule)}
.numbers tr:last-child td{border-bottom:0}
.numbers th:first-child,.numbers td:first-child{text-align:left;padding-left:0}
.numbers td.best{font-weight:650}
.scroll{max-height:400px;overflow:auto}.scroll th{position:sticky;top:0;background:var(--card)}
.pairs{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:16px}
.facts .part th{padding-top:16px;font-style:italic;font-weight:400}
.facts{width:100%}.facts th{text-align:left;padding:4px 28px 4px 0;white-space:nowrap;vertical-align:top;width:1%}.facts td{padding:4px 0;overflow-wrap:anywhere}
footer{color:var(--dim);font-size:13px;margin-top:40px}
@media print{body{background:#fff}.card,.chart,.tile{break-inside:avoid}}
)css";

const char* const kReportScript = R"js(
(function(){
"use strict";
var NS="http://www.w3.org/2000/svg";
document.querySelectorAll("svg[data-lines]").forEach(function(svg){
  var data=JSON.parse(svg.dataset.lines),figure=svg.parentNode,tip=document.createElement("div"),group=document.createElementNS(NS,"g");
  tip.className="tip";tip.hidden=true;figure.appendChild(tip);
  svg.querySelectorAll("title").forEach(function(title){title.remove()});
  svg.appendChild(group);
  function hide(){tip.hidden=true;group.replaceChildren()}
  function element(name,attributes){
    var e=document.createElementNS(NS,name);
    for(var key in attributes)e.setAttribute(key,attributes[key]);
    group.appendChild(e);
  }
  svg.addEventListener("pointermove",function(event){
    var box=svg.getBoundingClientRect(),view=svg.viewBox.baseVal,x=(event.clientX-box.left)/box.width*view.width,near=null;
    data.lines.forEach(function(line){line.points.forEach(function(p){if(!near||Math.abs(p[0]-x)<Math.abs(near[0]-x))near=p})});
    if(!near)return;
    group.replaceChildren();
    element("line",{"class":"cursor",x1:near[0],x2:near[0],y1:12,y2:view.height-34});
    tip.replaceChildren(document.createTextNode(data.x+" "+near[2]));
    data.lines.forEach(function(line){
      var best=null;
      line.points.forEach(function(p){if(!best||Math.abs(p[0]-near[0])<Math.abs(best[0]-near[0]))best=p});
      if(!best)return;
      element("circle",{"class":"mark c"+line.color,cx:best[0],cy:best[1],r:4});
      var row=document.createElement("div"),value=document.createElement("b");
      value.textContent=best[3];row.append(line.name,value);tip.appendChild(row);
    });
    tip.hidden=false;
    var outer=figure.getBoundingClientRect(),left=near[0]/view.width*box.width+box.left-outer.left+14;
    if(left+tip.offsetWidth>outer.width)left-=tip.offsetWidth+28;
    tip.style.left=left+"px";tip.style.top=box.top-outer.top+8+"px";
  });
  svg.addEventListener("pointerleave",hide);
});
var samples=document.querySelectorAll(".sample");
document.querySelectorAll("td[data-cell]").forEach(function(cell){
  function mark(on){
    var any=false;
    samples.forEach(function(s){if(s.dataset.cell===cell.dataset.cell)any=true});
    cell.classList.toggle("on",on);
    samples.forEach(function(s){s.classList.toggle("faded",on&&any&&s.dataset.cell!==cell.dataset.cell)});
  }
  cell.addEventListener("pointerenter",function(){mark(true)});
  cell.addEventListener("pointerleave",function(){mark(false)});
});
function hints(){
  document.querySelectorAll(".card").forEach(function(card){
    card.classList.remove("scrolls");
    card.classList.toggle("scrolls",card.scrollWidth>card.clientWidth+1);
  });
}
hints();addEventListener("resize",hints);
document.documentElement.dataset.ready="yes";
})();
)js";

}  // namespace tandem::train::detail
