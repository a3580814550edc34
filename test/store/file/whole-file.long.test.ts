import './whole-file.test.ts';
