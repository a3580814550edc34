/** Styles of the report alone, on screens. */
export const reportStyle = `.numbers-of{padding:0;background:none;border:0}
.numbers-of h2{margin:0 0 12px}
.four{grid-template-columns:repeat(4,1fr)}
.four .card p{margin:0;color:var(--muted);font-size:14px}
.four .card .big{color:var(--text);font-size:30px}
.four h3,.card h3{font-weight:500;color:var(--muted)}
.numbers-of .hint{margin:10px 0 0;font-size:14px}
.period{font-size:18px}
header .period{color:var(--text)}
.rest{margin:4px 0 0;font-size:14px;color:var(--muted)}
.chart+.legend{margin:8px 0 0}
.chart+.chart+.legend{margin:8px 0 0}
.swatch.mark{height:3px;width:16px;background:var(--mark);vertical-align:3px}
.swatch.part{background:none;border:1px dashed var(--accent)}
.swatch.unknown{background:var(--quiet-soft);border:1px solid var(--line)}
.change-group{margin-top:20px}
.change-group h4{margin:14px 0 0;font-size:15px;font-weight:500}
.change-group .changes{margin:4px 0 0;font-size:14px}
.change-group .changes li{padding:6px 0;overflow-wrap:anywhere}
.on-paper{display:none}
#runs~.cards{margin-bottom:28px}
#runs~.cards .card{border-radius:10px}
@media screen and (max-width:900px){#runs~.cards{grid-template-columns:1fr}}
@media (max-width:760px){.four{grid-template-columns:1fr 1fr}}
`;

/** Styles of the report alone, on paper: two pages of A4. */
export const reportOnPaper = `@page{size:A4;margin:10mm}
@media print{
.report{font-size:8.5pt;line-height:1.35}
.report h1{font-size:16pt}
.report h2{font-size:11.5pt;margin-bottom:6px}
.report h3{font-size:9.5pt}
.report header{padding-top:0}
.report .period{font-size:10pt}
.report footer{padding-bottom:0;font-size:7.5pt}
.report section{margin:9px 0;padding:8px 12px;border-radius:6px}
.report .card{padding:6px 12px}
.report .card dl{font-size:7.5pt;margin-top:4px;gap:1px 10px}
.report .card p{margin:0 0 3px}
.report .cards{gap:8px}
.report .four{grid-template-columns:repeat(4,1fr)}
.report .big,.report .four .card .big{font-size:15pt}
.report .numbers-of,.report .attention{padding:0}
.report .concern{padding:6px 12px;margin-top:6px}
.report .concern p{margin:2px 0 0;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}
.report .chart.wide svg{height:36mm}
.report .runs-drawn{display:none}
.report .concern pre,.report .glossary-of{display:none}
.report figcaption p,.report .legend,.report .rest,.report .hint,.report .four .card p,.report small{font-size:7.5pt;margin-bottom:3px}
.report .pair{gap:18px;margin-top:8px}
.report .legend{margin:2px 0 4px}
.report .badge{font-size:7.5pt;padding:0 7px}
.report table{font-size:7.5pt}
.report th,.report td{padding-top:2px;padding-bottom:2px}
.report .change-group{margin-top:4px}
.report .change-group h4{margin-top:4px;font-size:8pt}
.report .change-group .changes{margin:0;font-size:7.5pt}
.report .change-group .changes li{padding:1px 0;border:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.report div.many{columns:3;column-gap:14px}
.report .changes,.report h4{break-inside:avoid}
.report h2,.report h3,.report h4,.report .hint{break-after:avoid}
.report .changes .on-screen,.report .card small{display:none}
.report .changes .on-paper{display:list-item}
.report .attention.many .concern{padding:3px 10px;margin-top:4px}
.report .attention.many .concern p{-webkit-line-clamp:1}
.report .pair figcaption p,.report .concern p+p{display:none}
.report .on-paper{display:none}
#runs~.cards{margin-bottom:8px}
.report .change{display:inline;margin-left:6px}
.report th small{display:inline;margin-left:6px}
.report .legend{gap:2px 14px}
}
`;
