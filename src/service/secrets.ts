/** A shorter secret is only looked for in the form of the header: alone it would be found in ordinary words. */
const lengthMin = 8;

/** The secrets of a process, in the forms in which a service might echo them: plain, in JSON, percent-encoded, in base64 and base64url. */
export class Secrets {
  /** The longest first, so that no part of one is left. */
  #forms: readonly string[] = [];

  /** What is looked for in records, too. */
  #sought: readonly string[] = [];

  /** @param isSought false for a secret that records can contain rightly, such as the name of a tenant. */
  add(secret: string, isSought = true): void {
    if (secret === '') return;
    const forms = formsOf(secret.length < lengthMin ? `Bearer ${secret}` : secret);
    if (isSought) this.#sought = [...new Set([...this.#sought, ...forms])];
    this.#forms = [...new Set([...this.#forms, ...forms])].sort((a, b) => b.length - a.length);
  }

  areIn(bytes: Buffer): boolean {
    return this.#sought.some(form => bytes.includes(form));
  }

  redact(text: string): string {
    return this.#forms.reduce((redacted, form) => redacted.replaceAll(form, '[secret]'), text);
  }
}

function formsOf(secret: string): string[] {
  const percent = encodeURIComponent(secret);
  // Its digits in base64 that no neighbouring text can change, if so many bytes of a group are before it.
  const base64 = [0, 1, 2].map(offset => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const digits = bytes.toString('base64').replace(/=+$/, '');
    return digits.slice(offset === 0 ? 0 : offset + 1, bytes.length % 3 === 0 ? undefined : -1);
  });
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    percent,
    percent.replace(/%../g, digits => digits.toLowerCase()),
    ...base64,
    ...base64.map(digits => digits.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}
