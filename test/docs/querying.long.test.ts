import './querying.test.ts';
