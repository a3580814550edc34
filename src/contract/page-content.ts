/** The items of a page in their order, part by part. */
export interface PageContent {
  /** Items in all. */
  readonly count: number;
  readonly parts: readonly ContentPart[];
}

/** Some items that follow each other. */
export interface ContentPart {
  readonly items: readonly unknown[];
  /**
   * JSON: an array of these items, each as received. It is made on demand, because the texts of all waiting pages would
   * take 20 MB.
   */
  readonly text: () => string;
}

/**
 * Reads a page's items.
 *
 * @param items JSON: an array, without anything around it.
 *
 * @throws SyntaxError if they are not JSON.
 */
export function readContent(items: Buffer): PageContent {
  const parts = readInParts(items) ?? [readPart(() => items.toString('utf8'))];
  return { count: parts.reduce((count, part) => count + part.items.length, 0), parts };
}

/**
 * Bytes of items that are read at a time. For a text beyond some 100 KiB the engine maps memory, which takes twice as
 * long as parsing it.
 */
const partBytes = 32 * 1024;
const [opening, closing, space] = [...Buffer.from('{} ')] as [number, number, number];

/**
 * Reads an array part by part; null if that can't be done. A part that was cut inside an item is not JSON. So if all
 * parts are JSON, they contain the same items as the whole.
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

/** The next comma that seems to be between two items; -1 if there is none. */
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
