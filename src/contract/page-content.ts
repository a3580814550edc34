/** What a page says: its items in their order, part by part. */
export interface PageContent {
  /** Items in all. */
  readonly count: number;
  readonly parts: readonly ContentPart[];
}

/** Some items that follow each other. */
export interface ContentPart {
  readonly items: readonly unknown[];
  /** JSON: an array of them, each as received. Made when it is asked for: kept, the texts of all pages that wait would take 20 MB. */
  readonly text: () => string;
}

/**
 * Reads a page's items.
 *
 * @param items JSON: an array, without anything around it.
 *
 * @throws SyntaxError where they are no JSON.
 */
export function readContent(items: Buffer): PageContent {
  const parts = readInParts(items) ?? [readPart(() => items.toString('utf8'))];
  return { count: parts.reduce((count, part) => count + part.items.length, 0), parts };
}

/** Items that are read at a time, in bytes: the engine maps memory for each text beyond some 100 KiB, which takes twice as long as parsing it. */
const partBytes = 32 * 1024;
const [opening, closing, space] = [...Buffer.from('{} ')] as [number, number, number];

/**
 * Reads an array part by part; null where that can't be done. Whatever is cut amid an item is no JSON, so where all parts are, they
 * say what the whole says.
 */
function readInParts(items: Buffer): ContentPart[] | null {
  const parts: ContentPart[] = [];
  const last = items.length - 1;
  let from = 1;
  try {
    while (last - from > partBytes) {
      const cut = nextCut(items, from + partBytes);
      if (cut < 0) break;
      parts.push(readPart(arrayOf(items, from, cut)));
      from = cut + 1;
    }
    if (parts.length > 0) parts.push(readPart(arrayOf(items, from, last)));
  } catch {
    return null;
  }
  return parts.length === 0 ? null : parts;
}

/** Where the next comma stands between what look like two items; -1 where there is none. */
function nextCut(items: Buffer, from: number): number {
  for (let comma = items.indexOf(',', from); comma > 0; comma = items.indexOf(',', comma + 1)) {
    if (items[comma - 1] !== closing) continue;
    let next = comma + 1;
    while ((items[next] as number) <= space) next++;
    if (items[next] === opening) return comma;
  }
  return -1;
}

function arrayOf(items: Buffer, from: number, to: number): () => string {
  return () => `[${items.toString('utf8', from, to)}]`;
}

function readPart(text: () => string): ContentPart {
  return { text, items: JSON.parse(text()) };
}
