import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';

/**
 * A page's items in their own text, for the few places where `JSON.parse` loses something: digits beyond 2^53, the order
 * of keys that look like numbers, and the text of a record that is rejected. It costs several times a parse, so it is made
 * only for pages that need it.
 */
export class ExactItems {
  readonly #text: string;
  readonly #items: readonly Node[];

  constructor(text: string) {
    this.#text = text;
    const root = parseTree(text);
    const property = root?.children?.findLast(child => child.children?.[0]?.value === 'items');
    this.#items = property?.children?.[1]?.children ?? [];
  }

  /** An item's text, byte for byte as received. */
  itemText(position: number): string {
    const item = this.#items[position];
    return item === undefined ? 'null' : this.#slice(item);
  }

  /**
   * The members of an item, or of an object at a path inside it, in the order received: each name with its value as
   * compact JSON, digits and escapes untouched.
   */
  members(position: number, path: readonly (string | number)[]): [name: string, json: string][] {
    const item = this.#items[position];
    const object = item && findNodeAtLocation(item, [...path]);
    return (object?.children ?? []).map(({ children }) => {
      const [name, value] = children as [Node, Node];
      return [name.value as string, this.#compact(value)];
    });
  }

  #slice(node: Node): string {
    return this.#text.slice(node.offset, node.offset + node.length);
  }

  #compact(node: Node): string {
    const children = node.children ?? [];
    if (node.type === 'array') return `[${children.map(child => this.#compact(child)).join(',')}]`;
    if (node.type === 'object') return `{${children.map(child => this.#compact(child)).join(',')}}`;
    if (node.type === 'property') return children.map(child => this.#compact(child)).join(':');
    return this.#slice(node);
  }
}

// A number after a structural character, with an exponent or at least 16 digits: it may not survive `JSON.parse`.
const uncertainNumber = /[:[,]\s*-?(?:\d[\d.]*[eE]|[\d.]{16})/;

/** True where a number in the text may not be held exactly by JavaScript. */
export function hasUncertainNumbers(text: string): boolean {
  return uncertainNumber.test(text);
}

/** True where a compact JSON text has a key that JavaScript moves to the front of its object. */
export function hasNumericKeys(json: string): boolean {
  return /[{,]"\d+":/.test(json);
}
