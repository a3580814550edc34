// The core as the worlds use it; a mutant is loaded from a folder of its own in its place.
export { proveByAgreement } from '../../../src/proof/agreement.ts';
export { proveGrowth } from '../../../src/proof/growth.ts';
export { learntOrder } from '../../../src/proof/order.ts';
export { answersInUse, confirm, proofOf, prove } from '../../../src/proof/prove.ts';
export { EndedEarly, Reading } from '../../../src/proof/reading.ts';
export { settle } from '../../../src/proof/settle.ts';
export { Ties } from '../../../src/proof/ties.ts';
export { miscount } from '../../../src/proof/totals.ts';
export { PageItems } from '../../../src/proof/window.ts';
export { verdictByKey } from '../../../src/proof/windows.ts';
export { answersIn, journaled } from '../../../src/store/write/journal.ts';
