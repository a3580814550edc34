import './one-record-one-row.test.ts';
