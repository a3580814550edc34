/** The process, as `node:process` gives it; the bundle uses this in its place. */
export default globalThis.process;
