/** The process, as `node:process` gives it; what is built has this in its place. */
export default globalThis.process;
