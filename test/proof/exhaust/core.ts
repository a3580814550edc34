// The core as the worlds use it; a mutant is loaded from a folder of its own in its place.
export { proveByAgreement } from '../../../src/proof/agreement.ts';
export { windowsOf } from '../../../src/proof/cover.ts';
export { proveGrowth } from '../../../src/proof/growth.ts';
export { learntOrder } from '../../../src/proof/order.ts';
export { confirm, proofOf, prove } from '../../../src/proof/prove.ts';
export { agreement, Reading } from '../../../src/proof/reading.ts';
export { isIn, PageItems } from '../../../src/proof/window.ts';
export { verdictOf } from '../../../src/proof/windows.ts';
