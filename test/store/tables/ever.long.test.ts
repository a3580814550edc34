import './ever.test.ts';
