const light = `--page:#f6f7f9;--card:#fff;--text:#1b2330;--muted:#566072;--line:#e1e5eb;--accent:#2f6fde;--link:#1f57b8;--soft:#eceff3;
--good:#1c7c46;--good-soft:#e2f4e9;--warn:#8f5a00;--warn-soft:#fdf0d5;--bad:#b3261e;--bad-soft:#fce4e2;color-scheme:light`;

const dark = `--page:#12161d;--card:#1a2029;--text:#e7ebf1;--muted:#a3adbd;--line:#2d3643;--accent:#6ea2ff;--link:#8db6ff;--soft:#262e3a;
--good:#67cf94;--good-soft:#163526;--warn:#f0b85a;--warn-soft:#3a2c10;--bad:#ff8f86;--bad-soft:#431d1b;color-scheme:dark`;

/** The style of all pages: light and dark, for phones and wider screens, and on paper. */
export const styleSheet = `
:root{${light}}
@media (prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
header,main,footer{max-width:1080px;margin:0 auto;padding:0 24px}
.wide :is(header,main,footer),.wide:is(header,main,footer){max-width:1560px}
header{padding-top:24px}
h1{font-size:28px;line-height:1.25;margin:20px 0 4px}
h2{font-size:20px;line-height:1.3;margin:0 0 12px}
h3{font-size:16px;line-height:1.4;margin:20px 0 0}
h4{font-size:15px;font-weight:500;margin:12px 0 0}
h1,h2,h3,h4,p,dd,li,small,figcaption{overflow-wrap:anywhere}
header p,footer,.hint,.empty,small,dt,caption,figcaption p,.legend,.id{color:var(--muted)}
header p,figcaption p{margin:0}
footer{padding-bottom:32px;font-size:14px}
section{margin:24px 0;padding:20px 24px;background:var(--card);border:1px solid var(--line);border-radius:12px}
section.plain{padding:0;background:none;border:0}
a{color:var(--link);text-underline-offset:2px}
:is(a,input,select,button,summary,pre,.scroll):focus-visible{outline:2px solid var(--accent);outline-offset:2px}
nav{display:flex;flex-wrap:wrap;align-items:center;gap:8px 20px}
nav a[aria-current]{color:var(--text);font-weight:650;text-decoration:none;border-bottom:3px solid var(--accent)}
nav form{display:flex;gap:8px;margin-left:auto}
input,select,button{font:inherit;color:inherit;min-height:40px;max-width:100%;border:1px solid var(--muted);border-radius:8px;background:var(--card);padding:6px 12px}
button{cursor:pointer}
.filters{display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr));gap:12px 16px;align-items:end}
.filters label{font-size:14px;color:var(--muted)}
.filters :is(input,select){display:block;width:100%;margin-top:2px;color:var(--text)}
.links{display:flex;flex-wrap:wrap;gap:4px 24px;margin:0 0 12px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:16px}
.card{padding:16px 20px;background:var(--card);border:1px solid var(--line);border-radius:12px;min-width:0}
.card h3{margin:0;font-weight:500;color:var(--muted)}
.card p{margin:0}
.big{font-size:30px;font-weight:650;line-height:1.3}
dl{display:grid;grid-template-columns:minmax(110px,max-content) minmax(0,1fr);gap:4px 16px;margin:12px 0 0;font-size:15px}
dd{margin:0}
small{display:block;font-size:13px;font-weight:400}
.badge{display:inline-block;padding:1px 10px;border-radius:99px;font-size:13px;font-weight:600;background:var(--soft);color:var(--muted);overflow-wrap:normal}
.badge.good{color:var(--good);background:var(--good-soft)}
.badge.warn{color:var(--warn);background:var(--warn-soft)}
.badge.bad{color:var(--bad);background:var(--bad-soft)}
.concern{margin:12px 0 0;padding:14px 20px;background:var(--card);border:1px solid var(--line);border-left:5px solid var(--muted);border-radius:10px}
.concern.good{border-left-color:var(--good)}
.concern.warn{border-left-color:var(--warn)}
.concern.bad{border-left-color:var(--bad)}
.concern h3{margin:0}
.concern p{margin:6px 0 0}
pre{margin:10px 0 0;padding:10px 14px;overflow-x:auto;background:var(--soft);border-radius:8px;font-size:14px}
figure{margin:20px 0 0;min-width:0}
figcaption h3{margin:0}
figcaption p{font-size:14px}
.chart{display:block;width:100%;height:220px;margin-top:12px}
.chart text{font-size:12px;fill:var(--muted)}
.chart line{stroke:var(--line)}
.chart rect,.bar rect{fill:var(--accent)}
.chart .part{fill-opacity:.3;stroke:var(--accent);stroke-dasharray:3 2}
.chart .unknown{fill:var(--soft)}
.chart .mark,.bar .mark{fill:var(--text)}
.bar{display:block;width:100%;height:12px}
.ranks{list-style:none;margin:12px 0 0;padding:0;font-size:14px}
.ranks li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 12px;margin-top:8px}
.ranks .bar{grid-column:1/-1}
.ranks span+span{color:var(--muted);white-space:nowrap}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));gap:8px 40px}
.legend{font-size:14px;margin:4px 0 0}
details{margin-top:8px;font-size:14px}
summary{cursor:pointer;color:var(--muted);width:max-content;padding:4px 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:8px}
th,td{padding:8px 16px 8px 0;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--muted);font-weight:500;white-space:nowrap}
thead a{color:inherit}
tbody th{font-weight:550}
.numbers :is(td,thead th:not(:first-child)),.number{text-align:right}
.list,.runs{width:100%}
.long{overflow-wrap:anywhere;min-width:220px}
.list tbody th{min-width:200px}
time{white-space:nowrap}
dl time{white-space:normal}
ul.changes,ol.changes{list-style:none;margin:4px 0 0;padding:0}
.changes>li{padding:10px 0;border-top:1px solid var(--line)}
.what,.details{margin:0}
.details{font-size:14px;color:var(--muted)}
.fields{font-size:14px;gap:2px 16px;margin:6px 0 0}
del{color:var(--bad)}
ins{color:var(--good);text-decoration:none;font-weight:550}
@media (max-width:900px){
.list,.list :is(tbody,tr,td,tbody th),.runs,.runs :is(tbody,tr,td,tbody th){display:block}
:is(.list,.runs) thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
:is(.list,.runs) tr{padding:10px 0;border-top:1px solid var(--line)}
:is(.list,.runs) :is(td,tbody th){padding:1px 0;border:0;text-align:left}
:is(.list,.runs) td:empty{display:none}
:is(.list,.runs) td::before{content:attr(data-label) ": ";color:var(--muted)}
nav form{margin-left:0;flex:1 1 100%}
nav input{flex:1;min-width:0}
}
@media (max-width:560px){
header,main,footer{padding-left:14px;padding-right:14px}
section{padding:16px 14px}
dl{grid-template-columns:1fr}
dd{margin-bottom:6px}
.wide-only{display:none}
}
@media print{
:root{${light};--page:#fff}
body{font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
header,main,footer{max-width:none;padding:0}
figure,.card,.concern,tr,li{break-inside:avoid}
nav,details,.filters,.links{display:none}
}
`;
