import './short-pages.test.ts';
