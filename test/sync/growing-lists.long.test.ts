import './growing-lists.test.ts';
