import './same-meaning.test.ts';
