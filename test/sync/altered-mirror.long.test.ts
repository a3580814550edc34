import './altered-mirror.test.ts';
