import './procedure.test.ts';
