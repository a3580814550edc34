import { reportOnPaper, reportStyle } from './report-style.ts';

const light = `--page:#f6f7f9;--card:#fff;--text:#1b2330;--muted:#566072;--line:#e1e5eb;--accent:#2f6fde;--accent-text:#1f57b8;--accent-2:#7a55d1;
--good:#1c7c46;--good-soft:#e2f4e9;--warn:#8f5a00;--warn-soft:#fdf0d5;--bad:#b3261e;--bad-soft:#fce4e2;--quiet:#566072;--quiet-soft:#eceff3;--mark:#1b2330;color-scheme:light`;

const dark = `--page:#12161d;--card:#1a2029;--text:#e7ebf1;--muted:#a3adbd;--line:#2d3643;--accent:#6ea2ff;--accent-text:#8db6ff;--accent-2:#b094f7;
--good:#67cf94;--good-soft:#163526;--warn:#f0b85a;--warn-soft:#3a2c10;--bad:#ff8f86;--bad-soft:#431d1b;--quiet:#a3adbd;--quiet-soft:#262e3a;--mark:#e7ebf1;color-scheme:dark`;

/** The report's style: light and dark, for phones and wider screens, and on paper. */
export const styleSheet = `
:root{${light}}
@media (prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
header,main,footer{max-width:1080px;margin:0 auto;padding:0 24px}
header{padding-top:36px}
h1{font-size:28px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}
header p,footer p{margin:0;color:var(--muted)}
header p,dd,.concern p{overflow-wrap:anywhere}
small{overflow-wrap:break-word}
h2{font-size:20px;line-height:1.3;margin:0 0 16px}
h3{font-size:16px;line-height:1.4;margin:0}
section{margin:28px 0;padding:24px;background:var(--card);border:1px solid var(--line);border-radius:14px}
section.cards,section.attention{padding:0;background:none;border:0}
.cards{display:grid;grid-template-columns:repeat(3,1fr);gap:16px}
.card{padding:20px 24px;background:var(--card);border:1px solid var(--line);border-radius:14px}
.card h2{font-size:16px;font-weight:500;color:var(--muted);margin:0}
.card p{margin:0 0 10px}
.big{font-size:32px;font-weight:650;line-height:1.25;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.big span{font-size:15px;font-weight:400;color:var(--muted);letter-spacing:0}
.card dl{display:grid;grid-template-columns:auto 1fr;gap:4px 16px;margin:14px 0 0;font-size:14px}
dt{color:var(--muted)}
dd{margin:0}
small{display:block;font-size:13px;font-weight:400;color:var(--muted)}
.badge{display:inline-block;padding:2px 10px;border-radius:99px;font-size:13px;font-weight:600;line-height:1.5;white-space:nowrap}
.good{--tone:var(--good);--soft:var(--good-soft)}
.warn{--tone:var(--warn);--soft:var(--warn-soft)}
.bad{--tone:var(--bad);--soft:var(--bad-soft)}
.quiet{--tone:var(--quiet);--soft:var(--quiet-soft)}
.badge{color:var(--tone);background:var(--soft)}
.concern{margin:12px 0 0;padding:16px 20px;background:var(--card);border:1px solid var(--line);border-left:5px solid var(--tone);border-radius:10px}
.concern p{margin:6px 0 0}
.concern pre{border:1px solid var(--line)}
p.concern{margin:0}
.concern strong{color:var(--tone)}
pre{margin:10px 0 0;padding:10px 14px;overflow-x:auto;background:var(--quiet-soft);border-radius:8px;font-size:14px}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace}
p code{font-size:.92em}
figure{margin:0}
figcaption p{margin:2px 0 12px;color:var(--muted);font-size:14px}
.chart svg{display:block;width:100%;height:auto}
.chart text{font-family:inherit;font-variant-numeric:tabular-nums}
.chart.narrow{display:none}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:40px;margin-top:36px}
.pair>*{min-width:0}
details{margin-top:8px;font-size:14px}
summary{cursor:pointer;color:var(--muted);width:max-content;padding:4px 0}
.scroll{overflow-x:auto}
.scroll:focus-visible,summary:focus-visible,pre:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);padding:0 0 8px}
th,td{padding:9px 16px 9px 0;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
thead th{border-top:0;color:var(--muted);font-weight:500}
tbody th{font-weight:600;white-space:nowrap}
.numbers td,.numbers thead th:not(:first-child),.runs th:nth-child(n+3),.runs td:nth-child(n+3){text-align:right}
.runs td:nth-child(n+3){white-space:nowrap}
.runs td{min-width:0;overflow-wrap:anywhere}
.numbers{width:auto;min-width:min(320px,100%)}
.numbers tbody th{font-weight:400;white-space:normal;overflow-wrap:anywhere}
.numbers th,.numbers td{padding-top:4px;padding-bottom:4px}
.change{display:block}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;margin:12px 0 24px;padding:0;list-style:none;font-size:14px;color:var(--muted)}
.swatch{display:inline-block;width:12px;height:12px;margin-right:7px;border-radius:3px;background:var(--tone);vertical-align:-1px}
.hint,.empty{margin:-8px 0 16px;color:var(--muted)}
.empty{margin:0}
#changes~h3{margin-top:24px}
h3 small{display:inline;margin-left:10px}
.changes{margin:8px 0 0;padding:0;list-style:none}
.changes li{padding:12px 0;border-top:1px solid var(--line);break-inside:avoid}
.what{margin:0;font-size:15px}
.id{color:var(--muted)}
.fields{display:flex;flex-wrap:wrap;gap:6px 28px;margin:8px 0 0;font-size:14px}
.fields div{min-width:0;max-width:100%}
.fields dt{font-size:12.5px}
.wide-fields div{width:100%}
del{color:var(--bad);text-decoration-thickness:1px}
ins{color:var(--good);text-decoration:none;font-weight:550}
.to{color:var(--muted)}
nav{display:flex;flex-wrap:wrap;align-items:center;gap:0 20px}
nav a{margin-top:16px}
.search{display:flex;flex-wrap:wrap;align-items:center;gap:8px;flex:1 1 460px;margin-top:16px}
.search label{font-size:14px;color:var(--muted)}
input,button{font:inherit;color:inherit;min-height:40px;border:1px solid var(--muted);border-radius:8px;background:var(--card);padding:6px 12px}
input{flex:1 1 160px;min-width:0;max-width:420px}
button{cursor:pointer}
a{color:var(--accent-text);text-underline-offset:2px}
a:focus-visible,input:focus-visible,button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.record{display:grid;grid-template-columns:minmax(120px,max-content) 1fr;gap:8px 24px;margin:0;font-size:15px}
.record dd,.fields dd,.what{overflow-wrap:anywhere}
.versions{margin:0;padding:0;list-style:none}
.versions>li{padding:16px 0;border-top:1px solid var(--line)}
.versions>li:first-child{padding-top:0;border-top:0}
.versions p,.details{overflow-wrap:anywhere;margin:4px 0 0;font-size:14px;color:var(--muted)}
.glossary{display:grid;grid-template-columns:auto 1fr;gap:8px 20px;margin:0;font-size:15px}
.glossary dt{font-weight:600;color:var(--text)}
footer{padding-bottom:40px;font-size:14px}
@media (max-width:760px){
.cards,.pair{grid-template-columns:1fr}
.chart.narrow{display:block}
.chart.wide{display:none}
}
@media (max-width:560px){
header,main,footer{padding-left:14px;padding-right:14px}
section{margin:18px 0;padding:18px 16px}
.card{padding:16px}
.glossary,.record{grid-template-columns:1fr;gap:2px}
.record dd{margin-bottom:10px}
.search label{flex-basis:100%}
.glossary dd{margin-bottom:10px}
.runs,.runs tbody,.runs caption{display:block}
.runs thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.runs tr{display:grid;grid-template-columns:1fr auto;gap:4px 12px;padding:10px 0;border-top:1px solid var(--line)}
.runs th,.runs td{padding:0;border:0}
.runs td:nth-child(2){text-align:right}
.runs td:nth-child(3){text-align:left;color:var(--muted)}
.runs tbody th,.runs td:nth-child(n+3){white-space:normal}
.change{display:inline-block;margin-left:10px}
}
${reportStyle}@media print{
:root{${light};--page:#fff}
body{font-size:11pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
header,main,footer{max-width:none;padding:0}
section,.card{border-color:#ccc}
figure,.card,.concern,tr{break-inside:avoid}
.chart.narrow{display:none}
.chart.wide{display:block}
.cards{grid-template-columns:repeat(3,1fr)}
.pair{grid-template-columns:1fr 1fr}
details,nav,.search{display:none}
.scroll{overflow:visible}
}
${reportOnPaper}`;
