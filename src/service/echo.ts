/**
 * The parts of an answer that are stored: `items` as it was received, and of `pagination` its four numbers.
 *
 * @returns null where the text is not a JSON object with both.
 */
export function storedParts(text: string): { items: string; pagination: string } | null {
  if (!isObject(text)) return null;
  const members = topLevelMembers(text);
  const items = members.get('items');
  const pagination = members.get('pagination');
  if (items === undefined || pagination === undefined) return null;
  const numbers: unknown = JSON.parse(pagination, (key, value: unknown) =>
    key === '' || paginationNames.has(key) ? value : undefined,
  );
  return { items, pagination: JSON.stringify(numbers) };
}

const paginationNames = new Set(['pageCount', 'pageNo', 'pageSize', 'totalRecordCount']);

function isObject(text: string): boolean {
  try {
    JSON.parse(text);
    return text.trimStart().startsWith('{');
  } catch {
    return false;
  }
}

/** The members of a JSON object by their names, each as it is written; of a name that stands there twice, the last. */
function topLevelMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const nameEnd = endOfString(text, at);
    const start = text.indexOf(':', nameEnd) + 1;
    const end = endOfValue(text, start);
    members.set(JSON.parse(text.slice(at, nameEnd)), text.slice(start, end));
    at = end;
  }
  return members;
}

const structure = /["{}[\],]/g;

/** Where a member's value ends: at the comma or brace that belongs to the object itself. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  structure.lastIndex = start;
  for (let found = structure.exec(text); found !== null; found = structure.exec(text)) {
    const [mark] = found;
    if (mark === '"') structure.lastIndex = endOfString(text, found.index);
    else if (mark === '{' || mark === '[') depth++;
    else if (depth === 0) return found.index;
    else if (mark !== ',') depth--;
  }
  return text.length;
}

/** Where a string ends that begins here: behind the first quotation mark before which an even number of backslashes stands. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}
