/** Makes a function whose answer is given again for a while, so that many who ask cost no more than one. */
export function remembered<T>(keptMs: number, ask: () => T): () => T {
  let answer: { readonly value: T; readonly askedAtMs: number } | undefined;
  return () => {
    const nowMs = performance.now();
    if (answer === undefined || nowMs - answer.askedAtMs >= keptMs)
      answer = { value: ask(), askedAtMs: nowMs };
    return answer.value;
  };
}
