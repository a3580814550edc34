import './cut-lists.test.ts';
