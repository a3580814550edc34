import './doctor.test.ts';
