/**
 * A text is no receipt, no signed note, no checkpoint or no key, although it should be one. The message says what is wrong in a
 * sentence. It does not name the file, because only the caller knows its name.
 */
export class MalformedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
