import { parse, type Spec, View } from 'vega';
import { type Html, html } from './html.ts';

/** What a chart shows and how it is told to those who don't see it. */
interface Chart {
  readonly title: string;
  /** What the chart shows, in a sentence. */
  readonly summary: string;
  /** The same numbers as a table: its headings, then its rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Draws a chart, or one for narrow and one for wide screens, of which the style sheet shows the fitting one. */
export async function figure(
  chart: Chart,
  specs: { readonly narrow: Spec; readonly wide?: Spec },
): Promise<Html> {
  const narrow = await draw(specs.narrow);
  const wide = specs.wide === undefined ? null : await draw(specs.wide);
  const label = `${chart.title}. ${chart.summary}`;
  return html`<figure>
    <figcaption><h3>${chart.title}</h3><p>${chart.summary}</p></figcaption>
    <div class=${wide === null ? 'chart' : 'chart narrow'} role="img" aria-label=${label}
      dangerouslySetInnerHTML=${{ __html: narrow }}></div>
    ${
      wide !== null &&
      html`<div class="chart wide" role="img" aria-label=${label}
        dangerouslySetInnerHTML=${{ __html: wide }}></div>`
    }
    <details>
      <summary>The numbers</summary>
      <div class="scroll" role="region" tabindex="0" aria-label=${`${chart.title}: the numbers`}>
        <table class="numbers">
          <thead><tr>${chart.columns.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
          <tbody>${chart.rows.map(numberRow)}</tbody>
        </table>
      </div>
    </details>
  </figure>`;
}

function numberRow([name, ...values]: readonly string[]): Html {
  return html`<tr><th scope="row">${name}</th>${values.map(value => html`<td>${value}</td>`)}</tr>`;
}

/** The SVG of a chart; its colours are left to the style sheet. */
async function draw(spec: Spec): Promise<string> {
  const view = new View(parse({ ...spec, config: { ...theme, ...spec.config } }), { renderer: 'none' });
  try {
    return (await view.toSVG()).replace(/(\d\.\d{2})\d+/g, '$1');
  } finally {
    view.finalize();
  }
}

const theme = {
  background: 'transparent',
  axis: {
    aria: false,
    labelColor: 'var(--muted)',
    titleColor: 'var(--muted)',
    gridColor: 'var(--line)',
    domainColor: 'var(--line)',
    tickColor: 'var(--line)',
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 400,
    labelPadding: 6,
    titlePadding: 8,
  },
} as const;
