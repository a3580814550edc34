/** The style of all pages: light and dark, for phones and wider screens. */
export const styleSheet = `
:root{color-scheme:light dark;--page:light-dark(#f6f7f9,#12161d);--card:light-dark(#fff,#1a2029);--text:light-dark(#1b2330,#e7ebf1);
--muted:light-dark(#566072,#a3adbd);--line:light-dark(#e1e5eb,#2d3643);--accent:light-dark(#2f6fde,#6ea2ff);--link:light-dark(#1f57b8,#8db6ff);
--soft:light-dark(#eceff3,#262e3a);--good:light-dark(#1c7c46,#67cf94);--warn:light-dark(#8f5a00,#f0b85a);--bad:light-dark(#b3261e,#ff8f86)}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
header,main,footer{max-width:1080px;margin:0 auto;padding:0 24px}
.wide :is(header,main,footer){max-width:1560px}
header{padding-top:24px}
h1{font-size:28px;line-height:1.25;margin:20px 0 4px}
h2{font-size:20px;line-height:1.3;margin:0 0 12px}
h3{font-size:16px;line-height:1.4;margin:20px 0 0}
h1,h2,h3,p,dd,li,figcaption,.list{overflow-wrap:anywhere}
header p,footer,.hint,.empty,dt,figcaption p,.details,.id,:is(h2,h3) time{color:var(--muted)}
header p,figcaption p,.card p{margin:0}
:is(h2,h3) time{font-size:13px;font-weight:400}
footer{padding-bottom:32px;font-size:14px}
section{margin:24px 0;padding:20px 24px;background:var(--card);border:1px solid var(--line);border-radius:12px}
section.plain{padding:0;background:none;border:0}
a{color:var(--link);text-underline-offset:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
nav{display:flex;flex-wrap:wrap;align-items:center;gap:8px 20px}
nav a[aria-current]{color:var(--text);font-weight:650;text-decoration:none;border-bottom:3px solid var(--accent)}
nav form{display:flex;gap:8px;margin-left:auto}
input,select,button{font:inherit;color:inherit;min-height:40px;max-width:100%;border:1px solid var(--muted);border-radius:8px;background:var(--card);padding:6px 12px}
button{cursor:pointer}
.filters{display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr));gap:12px 16px;align-items:end}
.filters label{font-size:14px;color:var(--muted)}
.filters :is(input,select){display:block;width:100%;margin-top:2px;color:var(--text)}
.links{display:flex;flex-wrap:wrap;gap:4px 24px;margin:0 0 12px}
:is(table,ul)+.links{margin:16px 0 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:16px}
.card{padding:16px 20px;background:var(--card);border:1px solid var(--line);border-radius:12px}
.card h3{margin:0;font-weight:500;color:var(--muted)}
.big{font-size:30px;font-weight:650;line-height:1.3}
dl{display:grid;grid-template-columns:minmax(110px,max-content) minmax(0,1fr);gap:4px 16px;margin:8px 0 0;font-size:15px}
dd{margin:0}
.badge{display:inline-block;padding:1px 10px;border-radius:99px;font-size:13px;font-weight:600;background:var(--soft)}
.good{color:var(--good)}
.warn{color:var(--warn)}
.bad{color:var(--bad)}
.concern{margin:12px 0 0;padding:14px 20px;background:var(--card);border:1px solid var(--line);border-left:5px solid;border-radius:10px}
.concern>*{margin:6px 0 0;color:var(--text)}
.concern :is(h2,h3){margin:0}
pre{padding:10px 14px;overflow-x:auto;background:var(--soft);border-radius:8px;font-size:14px}
figure{margin:20px 0 0;min-width:0}
figcaption h3{margin:0}
figcaption p{font-size:14px}
.chart{display:block;width:100%;height:220px;margin-top:12px}
.chart text{font-size:12px;fill:var(--muted)}
.chart line{stroke:var(--line)}
rect{fill:var(--accent)}
rect.mark{fill:var(--text)}
.bar{display:block;width:100%;height:8px;margin-top:2px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:8px 40px}
details{margin-top:8px;font-size:14px}
summary{cursor:pointer;color:var(--muted);width:max-content;padding:4px 0}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:8px 16px 8px 0;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--muted);font-weight:500;white-space:nowrap}
thead a{color:inherit}
tbody th{font-weight:550}
.list tbody th:not(.right){min-width:200px}
.list td:not(.right){min-width:6.5em}
.numbers tbody th{width:50%;overflow-wrap:anywhere}
.right{text-align:right}
ul,ol{list-style:none;margin:4px 0 0;padding:0}
li{padding:10px 0;border-top:1px solid var(--line)}
li p{margin:0}
.details{font-size:14px}
del{color:var(--bad)}
ins{color:var(--good);text-decoration:none;font-weight:550}
@media (max-width:900px){
.list,.list :is(tbody,tr,td,tbody th){display:block}
.list thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.list tr{padding:10px 0;border-top:1px solid var(--line)}
.list :is(td,tbody th){padding:1px 0;border:0;text-align:left}
.list td:empty{display:none}
.list th.right::before{content:attr(data-label) " "}
.list td::before{content:attr(data-label) ": ";color:var(--muted)}
nav form{margin-left:0;flex:1 1 100%}
nav input{flex:1;min-width:0}
}
@media (max-width:560px){
header,main,footer{padding-left:14px;padding-right:14px}
section{padding:16px 14px}
dl{grid-template-columns:1fr}
.numbers :is(th,td){padding-right:10px}
}
@media print{nav,details,.filters,.links{display:none}}
`;
