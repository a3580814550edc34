import './schedule.test.ts';
