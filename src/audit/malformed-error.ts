/**
 * A text is not what it should be: no receipt, no signed note, no checkpoint, no key. The message says what is wrong in a
 * sentence, without the name of a file, which only the caller knows.
 */
export class MalformedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
