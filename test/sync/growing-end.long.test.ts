import './growing-end.test.ts';
