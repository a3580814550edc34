import { type Html, html } from '../report/html.ts';
import { type Parameters, queryWith } from './address.ts';

/** The choices of a form; null for a list that is too long to be shown. */
export interface Choices {
  readonly connections: readonly { readonly id: number; readonly name: string | null }[] | null;
  readonly kinds: readonly string[];
  readonly resources: readonly { readonly resource: string; readonly title: string }[];
}

/** A form that filters the page it is on; it needs no script. */
export function filterForm(names: readonly string[], parameters: Parameters, choices: Choices): Html {
  const fields = names.filter(name => !['sort', 'order'].includes(name));
  return html`<form class="filters" action="" aria-label="Filter">
    ${fields.map(name => field(name, parameters[name] ?? '', choices))}
    ${['sort', 'order'].map(
      name =>
        parameters[name] !== undefined &&
        html`<input type="hidden" name=${name} value=${parameters[name]} />`,
    )}
    <button>Filter</button>
  </form>`;
}

/** The links beside a filter: all filtered rows as a file, and the list without a filter. */
export function linksOf(file: string, parameters: Parameters): Html {
  const { sort, order, ...filters } = parameters;
  const isFiltered = Object.keys(filters).some(name => name !== 'after' && name !== 'before');
  return html`<p class="links">
    <a href=${file + queryWith(parameters, {})} download>Download CSV</a>
    ${isFiltered && html`<a href="?">Without a filter</a>`}
  </p>`;
}

const labels: Readonly<Record<string, string>> = {
  source: 'Source',
  destination: 'Destination',
  kind: 'Kind',
  from: 'From',
  to: 'To (inclusive)',
  q: 'Words',
  resource: 'List',
  operation: 'What happened',
  run: 'Run',
};

function field(name: string, value: string, choices: Choices): Html {
  return html`<label>${labels[name]}${input(name, value, choices)}</label>`;
}

function input(name: string, value: string, { connections, kinds, resources }: Choices): Html {
  switch (name) {
    case 'source':
    case 'destination':
      if (connections === null) return text(name, value, 'id or name');
      return select(
        name,
        value,
        connections.map(each => [String(each.id), each.name?.trim() || `Connection ${each.id}`]),
      );
    case 'resource':
      return select(
        name,
        value,
        resources.map(({ resource, title }) => [resource, title]),
      );
    case 'operation':
      return select(name, value, [
        ['insert', 'New'],
        ['update', 'Changed'],
        ['removal', 'Removed'],
      ]);
    case 'kind':
      return html`<input name="kind" value=${value} maxlength="200" list="kinds" autocomplete="off" />
        <datalist id="kinds">${kinds.map(kind => html`<option value=${kind}></option>`)}</datalist>`;
    case 'from':
    case 'to':
      // A browser shows no time in a field for dates.
      return html`<input name=${name} value=${value} type=${/^(\d{4}-\d\d-\d\d)?$/.test(value) ? 'date' : 'text'} />`;
    default:
      return text(name, value, '');
  }
}

function text(name: string, value: string, placeholder: string): Html {
  return html`<input name=${name} value=${value} maxlength="200" placeholder=${placeholder} autocomplete="off" />`;
}

function select(name: string, value: string, options: readonly (readonly [string, string])[]): Html {
  const isKnown = value === '' || options.some(([each]) => each === value);
  const all = isKnown ? options : [...options, [value, value] as const];
  return html`<select name=${name}>
    <option value="">All</option>
    ${all.map(([each, label]) => html`<option value=${each} selected=${each === value}>${label.slice(0, 80)}</option>`)}
  </select>`;
}
