/** The most levels of nesting in a record; a deeper one is rejected. */
export const nestingMax = 512;

/**
 * Whether a value has more levels of nesting than `levelsMax`. It goes level by level, without recursion: a value can
 * be nested a hundred thousand levels deep.
 */
export function isDeeper(value: unknown, levelsMax: number): boolean {
  if (!isObject(value)) return false;
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levelsMax) return true;
    level = level.flatMap(each => Object.values(each).filter(isObject));
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
