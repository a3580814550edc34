// The core as the worlds use it; a mutant is loaded from a folder of its own in its place.
export { Course } from '../../../src/proof/windows/course.ts';
export { fateOf, needsTwoRuns } from '../../../src/proof/windows/decide.ts';
export { planIncremental } from '../../../src/proof/windows/incremental.ts';
export { learntOrder } from '../../../src/proof/windows/order.ts';
export { summaryOf } from '../../../src/proof/windows/page.ts';
export { PlainCourse } from '../../../src/proof/windows/plain-course.ts';
export { Plan } from '../../../src/proof/windows/plan.ts';
export { verdictByKey, wholePages, windowsByKey } from '../../../src/proof/windows/verdict.ts';
export { isIn } from '../../../src/proof/windows/window.ts';
