import './nights.test.ts';
