import './cached-totals.test.ts';
