import './remembered-items.test.ts';
