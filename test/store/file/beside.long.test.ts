import './beside.test.ts';
