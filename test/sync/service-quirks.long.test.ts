import './service-quirks.test.ts';
