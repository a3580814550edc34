/** How long an answer is given again, in milliseconds. */
const keptMs = 1_000;

/** Makes a function whose answer is given again for a while, so that many questions about the state cost no more than one. */
export function cachedForOneSecond<T>(ask: () => T): () => T {
  let answer: { readonly value: T; readonly askedAtMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (answer === undefined || nowMs - answer.askedAtMs >= keptMs)
      answer = { value: ask(), askedAtMs: nowMs };
    return answer.value;
  };
}
