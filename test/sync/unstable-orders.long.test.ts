import './unstable-orders.test.ts';
