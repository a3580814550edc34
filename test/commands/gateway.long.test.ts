import './gateway.test.ts';
