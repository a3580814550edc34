import './copies-and-caches.test.ts';
