// The core as the worlds use it; a mutant is loaded from a folder of its own in its place.
export { proveByAgreement } from '../../../src/proof/agreement.ts';
export { answersInUse, proofOf } from '../../../src/proof/conclude.ts';
export { verdictByKey } from '../../../src/proof/cover.ts';
export { proveGrowth } from '../../../src/proof/growth.ts';
export { AnswerLog } from '../../../src/proof/log.ts';
export { learntOrder } from '../../../src/proof/order.ts';
export { PageItems } from '../../../src/proof/page-items.ts';
export { Ties } from '../../../src/proof/plan.ts';
export { confirm, prove } from '../../../src/proof/prove.ts';
export { EndedEarly } from '../../../src/proof/questions.ts';
export { reconcileVersions } from '../../../src/proof/reconcile.ts';
export { miscount } from '../../../src/proof/totals.ts';
export { answersIn, resumable } from '../../../src/store/write/resume-log.ts';
