import './almost.test.ts';
