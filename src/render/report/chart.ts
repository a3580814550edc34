import { type Html, html } from './html.ts';

/** A chart, and its text for those who can't see it. */
interface Chart {
  readonly title: string;
  /** The chart in a sentence or two. */
  readonly summary: string;
  /** The same numbers as a table: its headings, then its rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * A chart, or one for narrow and one for wide screens, of which the style sheet shows one; and the table of its
 * numbers.
 */
export function figure(
  { title, summary, columns, rows }: Chart,
  drawings: { readonly narrow: Html; readonly wide?: Html },
  note: Html = null,
): Html {
  const { narrow, wide } = drawings;
  const label = `${title}. ${summary}`;
  const drawing = (look: string, svg: Html) =>
    html`<div class=${look} role="img" aria-label=${label}>${svg}</div>`;
  return html`<figure>
    <figcaption><h3>${title}</h3><p>${summary}</p></figcaption>
    ${drawing(wide === undefined ? 'chart' : 'chart narrow', narrow)}
    ${wide !== undefined && drawing('chart wide', wide)}
    ${note}
    <details>
      <summary>The numbers</summary>
      <div class="scroll" role="region" tabindex="0" aria-label=${`${title}: the numbers`}>
        <table class="numbers">
          <thead><tr>${columns.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
          <tbody>${rows.map(numberRow)}</tbody>
        </table>
      </div>
    </details>
  </figure>`;
}

function numberRow([name, ...values]: readonly string[]): Html {
  return html`<tr><th scope="row">${name}</th>${values.map(value => html`<td>${value}</td>`)}</tr>`;
}
