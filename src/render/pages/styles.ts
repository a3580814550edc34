import { styleSheet } from '../report/style-sheet.ts';

/** The style of the pages of `serve`: the report's style, and styles for forms and long tables. */
export const pageStyles = `${styleSheet}
h1,h2,h3,.empty{overflow-wrap:anywhere}
.browse header,.browse main,.browse footer{max-width:1480px}
.filters{display:grid;grid-template-columns:repeat(auto-fill,minmax(190px,1fr));gap:12px 16px;align-items:end}
.filters label{display:block;font-size:14px;color:var(--muted)}
.filters input,.filters select{display:block;width:100%;max-width:none;margin-top:2px}
select{font:inherit;color:inherit;min-height:40px;border:1px solid var(--muted);border-radius:8px;background:var(--card);padding:6px 12px}
select:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.links{display:flex;flex-wrap:wrap;gap:4px 24px;margin:0 0 12px;font-size:15px}
.list td,.list tbody th{overflow-wrap:anywhere;white-space:normal;font-weight:400;min-width:72px}
.list tbody th{font-weight:550;min-width:180px}
.list thead a{color:inherit}
.list time{white-space:nowrap}
.list .number{text-align:right}
.pages{display:flex;flex-wrap:wrap;gap:4px 24px;margin:16px 0 0}
.bar{display:block;width:100%;min-width:60px;height:12px}
.bar rect{fill:var(--accent)}
.bar.other rect{fill:var(--accent-2)}
.months td:nth-child(odd){width:35%}
.months{max-width:820px}
.months thead td{border:0}
.months .bar{margin-top:5px}
@media (max-width:1000px){
.list,.list tbody,.list tr,.list td,.list tbody th{display:block}
.list thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.list tr{padding:12px 0;border-top:1px solid var(--line)}
.list td,.list tbody th{padding:1px 0;border:0;min-width:0}
.list td:empty{display:none}
.list td::before{content:attr(data-label) ": ";color:var(--muted)}
.list .number{text-align:left}
}
@media print{.filters,.pages,.links{display:none}}
`;
