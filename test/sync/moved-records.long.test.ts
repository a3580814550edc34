import './moved-records.test.ts';
