import './one-change.test.ts';
