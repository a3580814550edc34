import './two-statements.test.ts';
