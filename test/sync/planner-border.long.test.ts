import './planner-border.test.ts';
