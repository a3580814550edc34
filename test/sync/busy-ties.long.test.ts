import './busy-ties.test.ts';
