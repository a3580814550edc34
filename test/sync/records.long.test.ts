import './records.test.ts';
