import './restless-fields.test.ts';
