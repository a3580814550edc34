import './rows-thread.test.ts';
